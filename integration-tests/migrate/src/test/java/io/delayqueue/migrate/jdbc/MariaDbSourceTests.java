package io.delayqueue.migrate.jdbc;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

import io.delayqueue.fixtures.MariaDbServer;
import io.delayqueue.migrate.SourceEntry;
import io.delayqueue.migrate.SourceOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assumptions.assumeThat;

/** Takes rows of tables of MariaDB, whose types, collations and locks are its own. */
@Tag("server")
class MariaDbSourceTests {

    private static final String SELECT = "SELECT id, due, payload FROM jobs WHERE state = 0 ORDER BY id";

    private static final String UPDATE = "UPDATE jobs SET state = 9 WHERE id = ? AND state = 0";

    private static final long DUE = 1_900_000_000_000L;

    private static final AtomicInteger databases = new AtomicInteger();

    private final SelectSource source = new SelectSource();

    private String url = "";

    private String queue = "";

    private Connection connection;

    @BeforeEach
    void connect() throws SQLException {
        assumeThat(MariaDbServer.isInstalled()).as("MariaDB is installed").isTrue();
        this.url = MariaDbServer.shared()
            .createDatabase("types%d CHARACTER SET latin1".formatted(databases.incrementAndGet()));
        this.connection = DriverManager.getConnection(this.url, "root", "");
    }

    @AfterEach
    void close() throws SQLException {
        this.source.close();
        if (this.connection != null) {
            this.connection.close();
        }
    }

    @Test
    void aTimestampColumnIsRejectedAndItsUnixTimeIsExactInEachZone() throws SQLException {
        execute("CREATE TABLE jobs (id INT, due TIMESTAMP(6) NULL, payload TEXT, state INT)");
        execute("SET time_zone = '+00:00'");
        // In Europe/Berlin both are at 02:30.
        execute("INSERT INTO jobs VALUES (1, '2030-10-27 00:30:00.000001', '{}', 0), "
                + "(2, '2030-10-27 01:30:00', '{}', 0), (3, NULL, '{}', 0)");
        open("orders", "?sessionVariables=time_zone='-08:00'", SELECT, UPDATE);

        assertThatIllegalArgumentException().isThrownBy(() -> this.source.status("orders"))
            .withMessageContaining("--source-option=select=... is not valid: column 'due' is a TIMESTAMP")
            .withMessageContaining("UNIX_TIMESTAMP(due) * 1000");
        assertThatIllegalArgumentException().isThrownBy(() -> this.source.take("orders", "first", 10));

        open("orders", "?sessionVariables=time_zone='-08:00'", SELECT.replace("due", "UNIX_TIMESTAMP(due) * 1000"),
                UPDATE);
        assertThat(this.source.take("orders", "first", 10)).extracting(SourceEntry::dueAt)
            .containsExactly(Instant.parse("2030-10-27T00:30:00.001Z"), Instant.parse("2030-10-27T01:30:00Z"), null);
    }

    @Test
    void idsOfTextAndOfOtherTypesIdentifyTheRow() throws SQLException {
        execute("CREATE TABLE jobs (id VARCHAR(10) PRIMARY KEY, due BIGINT, payload BLOB, state INT)");
        execute("INSERT INTO jobs VALUES ('7', %1$d, X'ff007b', 0), ('007', %1$d, '{}', 0), ('7x', %1$d, '{}', 0)"
            .formatted(DUE));
        open("orders", "", SELECT, UPDATE + " AND id <> '007'");
        List<SourceEntry> taken = this.source.take("orders", "first", 10);
        assertThat(taken).extracting(SourceEntry::businessId).containsExactly("7", "7x");
        assertThat(taken.get(0).payload()).isEqualTo(new byte[] { (byte) 0xff, 0, '{' });
        assertThat(this.source.unsettled("orders", 1).get(0).payload()).isEqualTo(taken.get(0).payload());

        execute("CREATE TABLE tasks (id UUID, due BIGINT, payload JSON, state INT)");
        execute("INSERT INTO tasks VALUES ('123e4567-e89b-12d3-a456-426655440000', %d, '{}', 0)".formatted(DUE));
        open("orders", "", SELECT.replace("jobs", "tasks"), UPDATE.replace("jobs", "tasks"));
        assertThat(this.source.take("orders", "second", 10)).extracting(SourceEntry::businessId)
            .containsExactly("123e4567-e89b-12d3-a456-426655440000");
    }

    /** By default the collation of a database ignores the case. */
    @Test
    void idsAndQueuesThatDifferInCaseAreDifferentAndKeepAllCharacters() throws SQLException {
        execute("CREATE TABLE jobs (id VARCHAR(20) CHARACTER SET utf8mb4, due BIGINT, payload TEXT, state INT)");
        insert("\u043a\u043b\u044e\u0447-a");
        open("orders", "", SELECT, UPDATE);
        assertThat(take("first")).containsExactly("\u043a\u043b\u044e\u0447-a");
        insert("\u043a\u043b\u044e\u0447-A");
        assertThat(take("second")).containsExactly("\u043a\u043b\u044e\u0447-A");
        insert("b");
        insert("B");
        assertThatIllegalArgumentException().isThrownBy(() -> take("third")).withMessageContaining("it changed 2 rows");

        execute("UPDATE jobs SET state = 1 WHERE id COLLATE utf8mb4_bin = 'B'");
        open("Orders", "", SELECT, UPDATE);
        assertThat(take("fourth")).containsExactly("b");
        assertThat(this.source.unsettled("Orders", 10)).extracting(SourceEntry::businessId).containsExactly("b");
        assertThat(this.source.status("Orders").taken()).isEqualTo(1);
        open("orders", "", SELECT, UPDATE);
        assertThat(this.source.status("orders").taken()).isEqualTo(2);
    }

    /** A poller may keep a row locked for as long as it works on it. */
    @Test
    void aLockThatIsNotFreeInTimeIsWaitedForAgain() throws SQLException {
        execute("CREATE TABLE jobs (id INT PRIMARY KEY, due BIGINT, payload TEXT, state INT)");
        insert("1");
        open("orders", "?sessionVariables=innodb_lock_wait_timeout=1", SELECT, UPDATE);
        this.connection.setAutoCommit(false);
        execute("SELECT id FROM jobs WHERE id = 1 FOR UPDATE");

        Database.DatabaseException refused = catchThrowableOfType(Database.DatabaseException.class,
                () -> take("first"));

        assertThat(this.source.isPassing(refused)).isTrue();
        this.connection.commit();
        assertThat(take("first")).containsExactly("1");
    }

    @Test
    void aUserWhoMayCreateTablesNeedsNoPrivilegeForIndexes() throws SQLException {
        execute("CREATE TABLE jobs (id INT PRIMARY KEY, due BIGINT, payload TEXT, state INT)");
        insert("1");
        for (String user : List.of("'mover'@'localhost'", "'mover'@'127.0.0.1'")) {
            execute("CREATE USER " + user);
            execute("GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP ON %s.* TO %s"
                .formatted(this.connection.getCatalog(), user));
        }
        Map<String, String> settings = Map.of("queue", "orders", "select", SELECT, "update", UPDATE);
        this.source.open(new SourceOptions(this.url, "mover", null, settings));

        this.source.own("orders");

        this.queue = "orders";
        assertThat(take("first")).containsExactly("1");
        assertThat(indexes()).containsExactlyInAnyOrder("PRIMARY", "delayqueue_migrate_state",
                "delayqueue_migrate_business");
    }

    /** Returns the names of the indexes of the entries. */
    private Set<String> indexes() throws SQLException {
        Set<String> names = new HashSet<>();
        try (ResultSet rows = this.connection.getMetaData()
            .getIndexInfo(this.connection.getCatalog(), null, "delayqueue_migrate", false, true)) {
            while (rows.next()) {
                names.add(rows.getString("INDEX_NAME"));
            }
        }
        return names;
    }

    @Test
    void aPassMayPauseForLongerThanTheServerWaitsByDefault() throws SQLException {
        execute("CREATE TABLE jobs (id INT PRIMARY KEY, payload TEXT, state INT)");
        execute("INSERT INTO jobs VALUES (1, '{}', 0)");
        open("orders", "", "SELECT id, @@net_write_timeout, payload FROM jobs", "");

        assertThat(this.source.status("orders").firstDue()).isEqualTo(Instant.ofEpochMilli(3_600));
    }

    /** The rows would be changed, and taken by no one. */
    @Test
    void aDriverThatDoesNotCountTheRowsOfABatchIsRejected() throws SQLException {
        execute("CREATE TABLE jobs (id INT PRIMARY KEY, due BIGINT, payload TEXT, state INT)");
        insert("1");
        insert("3");
        open("orders", "?useBulkStmts=true", SELECT, UPDATE);
        assertThatIllegalArgumentException().isThrownBy(() -> take("first"))
            .withMessageContaining("a number of rows that the driver does not return");

        try (Connection bulk = DriverManager.getConnection(this.url + "?useBulkStmts=true", "root", "")) {
            bulk.setAutoCommit(false);
            List<Object[]> ids = List.of(new Object[] { 1 }, new Object[] { 2 });
            assertThatIllegalArgumentException().isThrownBy(() -> Database.changedByEach(bulk, UPDATE, ids))
                .withMessageContaining("--source-url is not valid")
                .withMessageContaining("useBulkStmts");
            bulk.rollback();
            assertThat(Database.changedByEach(this.connection, UPDATE, ids).stream()).containsExactly(0);
        }
    }

    private void open(String queue, String parameters, String select, String update) {
        this.source.close();
        Map<String, String> settings = new HashMap<>(Map.of("queue", queue, "select", select));
        if (!update.isEmpty()) {
            settings.put("update", update);
        }
        this.source.open(new SourceOptions(this.url + parameters, "root", null, settings));
        this.source.own(queue);
        this.queue = queue;
    }

    /** Takes a batch, and returns the ids of its rows. */
    private List<String> take(String batch) {
        return this.source.take(this.queue, batch, 10)
            .stream()
            .map((entry) -> String.valueOf(entry.businessId()))
            .toList();
    }

    private void insert(String id) throws SQLException {
        execute("INSERT INTO jobs VALUES ('%s', %d, '{}', 0)".formatted(id, DUE));
    }

    private void execute(String sql) throws SQLException {
        try (Statement statement = this.connection.createStatement()) {
            statement.execute(sql);
        }
    }

}
