package io.delayqueue.migrate.jdbc;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

import io.delayqueue.migrate.EntryOutcome;
import io.delayqueue.migrate.SourceEntry;
import io.delayqueue.migrate.SourceInUseException;
import io.delayqueue.migrate.SourceOptions;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** Takes rows of a table, in memory, which tests can change between the calls. */
class SelectSourceTests {

    private static final String SELECT = "SELECT id, due, payload FROM jobs WHERE state = 0 ORDER BY id";

    private static final String UPDATE = "UPDATE jobs SET state = 9 WHERE id = ? AND state = 0";

    private static final long DUE = 1_900_000_000_000L;

    private final String url = "jdbc:h2:mem:%s;DB_CLOSE_DELAY=-1".formatted(UUID.randomUUID());

    private final SelectSource source = new SelectSource();

    private Connection connection;

    @BeforeEach
    void connect() throws SQLException {
        this.connection = DriverManager.getConnection(this.url);
    }

    @AfterEach
    void close() throws SQLException {
        this.source.close();
        execute("SHUTDOWN");
        this.connection.close();
    }

    @Test
    void recordsAreKeptThatAnotherProcessOwnsOrThatArePending() throws SQLException {
        createRows(2);
        open(SELECT, UPDATE);
        take("first", 10);
        execute("UPDATE delayqueue_migrate_queue SET owner = 'another'");
        assertThatExceptionOfType(SourceInUseException.class)
            .isThrownBy(() -> this.source.finish("orders", () -> false));
        // The other process was killed, and has left what it had taken.
        execute("UPDATE delayqueue_migrate_queue SET owned_until = 0");
        assertThatExceptionOfType(SourceInUseException.class)
            .isThrownBy(() -> this.source.finish("orders", () -> false));

        this.source.settle("orders", List.of(EntryOutcome.sent("first-1"), EntryOutcome.sent("first-2")));
        this.source.finish("orders", () -> false);

        assertThat(this.source.status("orders").taken()).isZero();
    }

    /** The index of another table has the name of one that the program creates. */
    @Test
    void aRunThatEndsWhileItCreatesItsTablesLeavesASourceThatCanBeRead() throws SQLException {
        createRows(2);
        execute("CREATE INDEX delayqueue_migrate_state ON jobs (id)");
        execute("CREATE INDEX delayqueue_migrate_business ON jobs (id)");
        assertThatExceptionOfType(Database.DatabaseException.class).isThrownBy(() -> open(SELECT, UPDATE));

        assertThat(this.source.status("orders").waiting()).isEqualTo(2);

        this.source.own("orders");
        assertThat(take("first", 10)).containsExactly("1", "2");
    }

    /** The rows of the second query would be sent to the queue of the first. */
    @Test
    void aRunForAnotherQueueNeitherOffersNorTakesTheFirstOne() throws SQLException {
        createRows(4);
        open(SELECT, UPDATE);
        take("first", 2);
        this.source.close();
        this.source.open(new SourceOptions(this.url, null, null, Map.of("queue", "payments", "select", SELECT)));

        assertThat(this.source.queues()).containsExactly("payments");
        assertOtherQueueIsRejected(() -> this.source.status("orders"));
        assertOtherQueueIsRejected(() -> this.source.own("orders"));
        assertOtherQueueIsRejected(() -> this.source.take("orders", "second", 10));
        assertOtherQueueIsRejected(() -> this.source.peek("orders", 0, 10));
        assertThat(this.source.status("payments").waiting()).isEqualTo(2);
    }

    private static void assertOtherQueueIsRejected(ThrowingCallable call) {
        assertThatIllegalArgumentException().isThrownBy(call)
            .withMessageContaining("--queue='orders' is not valid: the rows of this source are queue 'payments'");
    }

    @Test
    void unreadableEntriesOfAnotherProcessAreNotReopened() throws SQLException {
        createRows(1);
        open(SELECT, UPDATE);
        take("first", 1);
        this.source.settle("orders", List.of(EntryOutcome.unreadable("first-1", "it is not JSON")));
        execute("UPDATE delayqueue_migrate_queue SET owner = 'another'");

        assertThatExceptionOfType(SourceInUseException.class)
            .isThrownBy(() -> this.source.reopen("orders", () -> false));

        assertThat(this.source.unsettled("orders", 10)).isEmpty();
    }

    @Test
    void anUpdateAfterWhichTheQueryStillReturnsTheRowsChangesNothing() throws SQLException {
        createRows(20);
        open(SELECT, "UPDATE jobs SET payload = '{}' WHERE id = ? AND state = 0");

        assertThatIllegalArgumentException().isThrownBy(() -> take("first", 5))
            .withMessageContaining("--source-option=update=")
            .withMessageContaining("still returns row '1'")
            .withMessageContaining("so that the query no longer returns it");

        assertThat(this.source.status("orders").taken()).isZero();
        assertThat(query("SELECT COUNT(*) FROM jobs WHERE payload = '{}'")).isEqualTo("0");
    }

    @Test
    void aRowThatIsReturnedAgainIsNotTakenTwice() throws SQLException {
        createRows(20);
        open(SELECT, UPDATE);
        take("first", 10);
        execute("UPDATE jobs SET state = 0 WHERE id = 7");

        assertThatIllegalArgumentException().isThrownBy(() -> take("second", 10))
            .withMessageContaining("Row '7' was taken before")
            .withMessageContaining("after --source-option=update=... the query must no longer return a row");

        assertThat(this.source.status("orders").taken()).isEqualTo(10);
        assertThat(query("SELECT COUNT(*) FROM jobs WHERE state = 9")).isEqualTo("9");
    }

    @Test
    void idsThatDifferInCaseAreDifferentRowsInADatabaseThatIgnoresIt() throws SQLException {
        this.connection.close();
        this.connection = DriverManager.getConnection(this.url + ";IGNORECASE=TRUE");
        execute("CREATE TABLE jobs (id VARCHAR(10), due BIGINT, payload VARCHAR(100), state INT)");
        execute("INSERT INTO jobs VALUES ('a', %d, '{}', 0)".formatted(DUE));
        open(this.url + ";IGNORECASE=TRUE", SELECT, UPDATE);
        assertThat(take("first", 10)).containsExactly("a");
        execute("INSERT INTO jobs VALUES ('A', %d, '{}', 0)".formatted(DUE));

        assertThat(take("second", 10)).containsExactly("A");

        execute("UPDATE jobs SET state = 0");
        assertThatIllegalArgumentException().isThrownBy(() -> take("third", 10))
            .withMessageContaining("was taken before");
    }

    @Test
    void idsAreComparedByTheTypeOfTheirColumn() throws SQLException {
        execute("CREATE TABLE jobs (id VARCHAR(10), due BIGINT, payload VARCHAR(100), state INT)");
        execute("INSERT INTO jobs VALUES ('7', %1$d, '{}', 0), ('007', %1$d, '{}', 0), ('a', %1$d, '{}', 0)"
            .formatted(DUE));
        open(SELECT, UPDATE);

        assertThat(take("first", 10)).containsExactly("007", "7", "a");
    }

    @Test
    void bytesOfAPayloadAreKept() throws SQLException {
        execute("CREATE TABLE jobs (id UUID, due BIGINT, payload BLOB, state INT)");
        execute("INSERT INTO jobs VALUES (RANDOM_UUID(), %d, X'ff007b', 0)".formatted(DUE));
        open(SELECT, UPDATE);

        assertThat(this.source.take("orders", "batch", 10)).singleElement()
            .extracting(SourceEntry::payload)
            .isEqualTo(new byte[] { (byte) 0xff, 0, '{' });
        assertThat(query("SELECT COUNT(*) FROM jobs WHERE state = 9")).isEqualTo("1");
    }

    @Test
    void rowsBehindOnesThatTheUpdateDoesNotChangeAreTaken() throws SQLException {
        createRows(20);
        open(SELECT, UPDATE + " AND id > 12");

        assertThat(take("first", 5)).containsExactly("13", "14", "15");
        assertThat(take("second", 5)).containsExactly("16", "17", "18", "19", "20");
        assertThat(take("third", 5)).isEmpty();
        assertThat(this.source.status("orders").waiting()).isEqualTo(12);
    }

    @Test
    void anUpdateThatChangesSeveralRowsChangesNothing() throws SQLException {
        createRows(20);
        execute("INSERT INTO jobs VALUES (3, %d, '{}', 0)".formatted(DUE));
        open(SELECT, UPDATE);

        assertThatIllegalArgumentException().isThrownBy(() -> take("first", 10))
            .withMessageContaining("for row '3' it changed 2 rows")
            .withMessageContaining("--source-option=update=");

        assertThat(query("SELECT COUNT(*) FROM jobs WHERE state = 9")).isEqualTo("0");
    }

    @ParameterizedTest
    @ValueSource(ints = { 1, 5, 20, 100 })
    void withoutAnUpdateAnIdThatTheQueryReturnsTwiceIsRejected(int limit) throws SQLException {
        createRows(20);
        execute("INSERT INTO jobs VALUES (3, %d, '{}', 0)".formatted(DUE + 100));
        open("SELECT id, due, payload FROM jobs ORDER BY due", "");

        assertThatIllegalArgumentException().isThrownBy(() -> takeAll("first", limit))
            .withMessage("--source-option=select=... is not valid: it returns row '3' more than once. "
                    + "Use a query that returns one row for each id");
        assertThatIllegalArgumentException().isThrownBy(() -> takeAll("second", limit))
            .withMessageContaining("row '3' more than once");
    }

    @Test
    void withoutAnUpdateTheQueryRunsOnceAndIdsAreComparedOncePerBatch() throws SQLException {
        createRows(4_000);
        open(SELECT, "");
        execute("SET QUERY_STATISTICS TRUE");

        long taken = 0;
        for (List<String> ids = take("b0", 100); !ids.isEmpty(); ids = take("b" + taken, 100)) {
            taken += ids.size();
        }

        assertThat(taken).isEqualTo(4_000);
        assertThat(executions(SELECT)).isEqualTo(1);
        assertThat(executions("SELECT business_id FROM delayqueue_migrate%")).isEqualTo(40);
        assertThat(take("again", 100)).isEmpty();
        assertThat(this.source.status("orders").waiting()).isZero();
        assertThat(executions(SELECT)).isEqualTo(3);
        // The status compares 500 ids at a time.
        assertThat(executions("SELECT business_id FROM delayqueue_migrate%")).isEqualTo(2 * 40 + 8);
    }

    /** Drivers may load all rows of a query whose connection is used by others, too. */
    @Test
    void withAnUpdateATakeReadsNoMoreRowsThanItTakesAndAStatusUsesAConnectionOfItsOwn() throws SQLException {
        createRows(20_000);
        String select = "SELECT id, SESSION_ID(), payload FROM jobs WHERE state = 0";
        open(select, UPDATE);
        execute("SET QUERY_STATISTICS TRUE");

        List<SourceEntry> entries = this.source.take("orders", "first", 10);

        assertThat(entries).hasSize(10);
        assertThat(query("SELECT MAX_ROW_COUNT FROM INFORMATION_SCHEMA.QUERY_STATISTICS WHERE SQL_STATEMENT = '%s'"
            .formatted(select))).isEqualTo("10");
        assertThat(this.source.status("orders").firstDue()).isNotEqualTo(entries.get(0).dueAt());
        assertThat(query("SELECT COUNT(*) FROM INFORMATION_SCHEMA.SESSIONS")).isEqualTo("2");
    }

    @Test
    void rowsWithoutAnIdAreTheFirstOnes() throws SQLException {
        createRows(8);
        execute("UPDATE jobs SET id = NULL WHERE id <= 5");
        open(SELECT, UPDATE);

        assertThat(take("first", 2)).containsExactly("6", "7");
        assertThat(take("second", 2)).containsExactly("8");
        assertThat(take("third", 2)).isEmpty();
    }

    @Test
    void aDryRunReadsTheQueryOnce() throws SQLException {
        createRows(2_000);
        open(SELECT, "");
        take("first", 100);
        this.source.close();
        open(SELECT, "");
        execute("SET QUERY_STATISTICS TRUE");

        Set<String> ids = new HashSet<>();
        long offset = 0;
        for (List<SourceEntry> page = this.source.peek("orders", 0, 500); !page.isEmpty(); page = this.source
            .peek("orders", offset, 500)) {
            page.forEach((entry) -> assertThat(ids.add(entry.businessId())).isTrue());
            offset += page.size();
        }

        assertThat(ids).hasSize(1_900).contains("101", "2000");
        assertThat(executions(SELECT)).isEqualTo(1);
        assertThat(take("second", 2)).containsExactly("101", "102");
        assertThat(this.source.peek("orders", 1_000, 10)).extracting(SourceEntry::businessId).contains("1103");
        assertThat(this.source.peek("orders", 5, 10)).extracting(SourceEntry::businessId).startsWith("108");
    }

    @Test
    void rowsOfATakeThatFailedAreTakenByTheNextOne() throws SQLException {
        createRows(20);
        open(SELECT, "");
        take("first", 5);
        execute("ALTER TABLE delayqueue_migrate RENAME TO away");
        assertThatExceptionOfType(Database.DatabaseException.class).isThrownBy(() -> take("second", 5));
        execute("ALTER TABLE away RENAME TO delayqueue_migrate");

        assertThat(take("second", 5)).containsExactly("6", "7", "8", "9", "10");
    }

    /** Returns how often statements ran that are like a pattern. */
    private long executions(String statement) throws SQLException {
        return Long.parseLong(query("SELECT COALESCE(SUM(EXECUTION_COUNT), 0) FROM INFORMATION_SCHEMA.QUERY_STATISTICS "
                + "WHERE SQL_STATEMENT LIKE '%s'".formatted(statement)));
    }

    private void createRows(int number) throws SQLException {
        execute("CREATE TABLE jobs (id BIGINT, due BIGINT, payload VARCHAR(100), state INT)");
        execute("INSERT INTO jobs SELECT x, %d + x, '{\"number\":' || x || '}', 0 FROM SYSTEM_RANGE(1, %d)"
            .formatted(DUE, number));
    }

    private void open(String select, String update) {
        open(this.url, select, update);
    }

    private void open(String url, String select, String update) {
        Map<String, String> settings = new HashMap<>(Map.of("queue", "orders", "select", select));
        if (!update.isEmpty()) {
            settings.put("update", update);
        }
        this.source.open(new SourceOptions(url, null, null, settings));
        this.source.own("orders");
    }

    /** Takes batches until none waits. */
    private void takeAll(String name, int limit) {
        int batches = 0;
        while (!take(name + batches, limit).isEmpty()) {
            batches++;
        }
    }

    /** Takes a batch, and returns the ids of its rows. */
    private List<String> take(String batch, int limit) {
        List<String> ids = new ArrayList<>();
        for (SourceEntry entry : this.source.take("orders", batch, limit)) {
            ids.add(entry.businessId());
        }
        return ids;
    }

    private String query(String sql) throws SQLException {
        try (Statement statement = this.connection.createStatement(); ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        }
    }

    private void execute(String sql) throws SQLException {
        try (Statement statement = this.connection.createStatement()) {
            statement.execute(sql);
        }
    }

}
