package io.delayqueue.migrate.jdbc;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Verifies that a search for cron triggers does not read all other triggers. */
class QuartzPlanTests {

    private static final String KEY = "SCHED_NAME VARCHAR(120), TRIGGER_NAME VARCHAR(200), TRIGGER_GROUP VARCHAR(200), "
            + "PRIMARY KEY (SCHED_NAME, TRIGGER_NAME, TRIGGER_GROUP)";

    @Test
    void aSearchReadsCronTriggersFirst() throws SQLException {
        try (Connection connection = DriverManager.getConnection("jdbc:h2:mem:");
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE QRTZ_JOB_DETAILS (SCHED_NAME VARCHAR(120), JOB_NAME VARCHAR(200), "
                    + "JOB_GROUP VARCHAR(200), JOB_CLASS_NAME VARCHAR(250), PRIMARY KEY (SCHED_NAME, JOB_NAME, JOB_GROUP))");
            statement.execute("CREATE TABLE QRTZ_TRIGGERS (JOB_NAME VARCHAR(200), JOB_GROUP VARCHAR(200), "
                    + "TRIGGER_TYPE VARCHAR(8), CALENDAR_NAME VARCHAR(200), NEXT_FIRE_TIME NUMERIC(13), " + KEY + ")");
            statement.execute("CREATE TABLE QRTZ_CRON_TRIGGERS (" + KEY + ")");
            statement.execute("INSERT INTO QRTZ_JOB_DETAILS VALUES ('shop', 'job', 'g', 'Job')");
            statement.execute("INSERT INTO QRTZ_TRIGGERS SELECT 'job', 'g', 'SIMPLE', NULL, 1, 'shop', X, 'g' "
                    + "FROM SYSTEM_RANGE(1, 10000)");

            String query = QuartzCronTriggers.JOINED.formatted("QRTZ_") + QuartzCronTriggers.ORDER;
            try (PreparedStatement plan = connection.prepareStatement("EXPLAIN SELECT 1 " + query)) {
                plan.setString(1, "shop");
                plan.setString(2, "Job");
                try (ResultSet rows = plan.executeQuery()) {
                    assertThat(rows.next()).isTrue();
                    assertThat(rows.getString(1)).containsPattern("FROM \"PUBLIC\".\"QRTZ_CRON_TRIGGERS\"");
                }
            }
        }
    }

}
