package io.delayqueue.migrate.jdbc;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import io.delayqueue.migrate.EntryOutcome;
import io.delayqueue.migrate.SourceEntry;
import io.delayqueue.migrate.SourceOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** Verifies that a run sends no entries that were taken from another scheduler. */
class QuartzRecordsTests {

    private static final String KEY = "SCHED_NAME VARCHAR(120), TRIGGER_NAME VARCHAR(200), TRIGGER_GROUP VARCHAR(200), "
            + "PRIMARY KEY (SCHED_NAME, TRIGGER_NAME, TRIGGER_GROUP)";

    private final String url = "jdbc:h2:mem:%s;DB_CLOSE_DELAY=-1".formatted(UUID.randomUUID());

    private Connection connection;

    @BeforeEach
    void createTables() throws SQLException {
        this.connection = DriverManager.getConnection(this.url);
        createTables("QRTZ_");
        createTables("OTHER_");
    }

    private void createTables(String prefix) throws SQLException {
        execute("CREATE TABLE %sLOCKS (SCHED_NAME VARCHAR(120), LOCK_NAME VARCHAR(40))".formatted(prefix));
        execute(("CREATE TABLE %sJOB_DETAILS (SCHED_NAME VARCHAR(120), JOB_NAME VARCHAR(200), JOB_GROUP VARCHAR(200), "
                + "JOB_CLASS_NAME VARCHAR(250), IS_DURABLE BOOLEAN, IS_NONCONCURRENT BOOLEAN, IS_UPDATE_DATA BOOLEAN, "
                + "JOB_DATA BLOB)")
            .formatted(prefix));
        execute(("CREATE TABLE %sTRIGGERS (JOB_NAME VARCHAR(200), JOB_GROUP VARCHAR(200), TRIGGER_STATE VARCHAR(16), "
                + "TRIGGER_TYPE VARCHAR(8), CALENDAR_NAME VARCHAR(200), NEXT_FIRE_TIME BIGINT, START_TIME BIGINT, "
                + "END_TIME BIGINT, MISFIRE_INSTR SMALLINT, JOB_DATA BLOB, %s)")
            .formatted(prefix, KEY));
        execute("CREATE TABLE %sSIMPLE_TRIGGERS (REPEAT_COUNT BIGINT, %s)".formatted(prefix, KEY));
        execute("CREATE TABLE %sCRON_TRIGGERS (CRON_EXPRESSION VARCHAR(120), TIME_ZONE_ID VARCHAR(80), %s)"
            .formatted(prefix, KEY));
    }

    @AfterEach
    void close() throws SQLException {
        execute("SHUTDOWN");
        this.connection.close();
    }

    @Test
    void recordsOfAnotherSchedulerOrPrefixAreNotResumed() throws SQLException {
        addTrigger("QRTZ_", "shop");
        addTrigger("QRTZ_", "billing");
        addTrigger("OTHER_", "shop");
        try (QuartzSource shop = open("scheduler", "shop")) {
            assertThat(shop.queues()).containsExactly("Job");
            shop.own("Job");
            assertThat(shop.take("Job", "batch", 10)).extracting(SourceEntry::businessId).containsExactly("shop-1");
        }

        assertRefused("scheduler", "billing");
        assertRefused("scheduler", "shop", "table-prefix", "OTHER_");
        execute("DELETE FROM OTHER_JOB_DETAILS");
        assertRefused("table-prefix", "OTHER_");

        try (QuartzSource shop = open("scheduler", "shop")) {
            assertThat(shop.queues()).containsExactly("Job");
            shop.own("Job");
            shop.settle("Job", List.of(EntryOutcome.sent("batch-1")));
            shop.finish("Job", () -> false);
        }
        try (QuartzSource billing = open("scheduler", "billing")) {
            assertThat(billing.queues()).containsExactly("Job");
        }
    }

    /** The scheduler is found in the tables, and is not there any more in the end. */
    @Test
    void recordsOfTheOnlySchedulerAreFoundWhenAllIsMoved() throws SQLException {
        addTrigger("QRTZ_", "shop");
        try (QuartzSource source = open()) {
            source.own("Job");
            assertThat(source.take("Job", "batch", 10)).hasSize(1);
        }

        try (QuartzSource source = open()) {
            assertThat(source.queues()).containsExactly("Job");
        }
        addTrigger("QRTZ_", "billing");
        assertRefused();
    }

    private void assertRefused(String... settings) {
        try (QuartzSource source = open(settings)) {
            assertThatIllegalArgumentException().isThrownBy(source::queues)
                .withMessage("Source 'quartz' has records of entries that were taken with table-prefix=QRTZ_, "
                        + "scheduler='shop': give the same by --source-option=NAME=VALUE, or finish that migration "
                        + "first");
        }
    }

    private QuartzSource open(String... settings) {
        Map<String, String> options = new HashMap<>();
        for (int i = 0; i < settings.length; i += 2) {
            options.put(settings[i], settings[i + 1]);
        }
        QuartzSource source = new QuartzSource();
        source.open(new SourceOptions(this.url, null, null, options));
        return source;
    }

    private void addTrigger(String prefix, String scheduler) throws SQLException {
        execute("INSERT INTO %1$sJOB_DETAILS VALUES ('%2$s', 'job', 'DEFAULT', 'Job', FALSE, FALSE, FALSE, NULL)"
            .formatted(prefix, scheduler));
        execute(("INSERT INTO %1$sTRIGGERS VALUES ('job', 'DEFAULT', 'WAITING', 'SIMPLE', NULL, 1900000000000, 0, 0, 0, "
                + "NULL, '%2$s', '%2$s-1', 'DEFAULT')")
            .formatted(prefix, scheduler));
        execute("INSERT INTO %1$sSIMPLE_TRIGGERS VALUES (0, '%2$s', '%2$s-1', 'DEFAULT')".formatted(prefix, scheduler));
    }

    private void execute(String sql) throws SQLException {
        try (Statement statement = this.connection.createStatement()) {
            statement.execute(sql);
        }
    }

}
