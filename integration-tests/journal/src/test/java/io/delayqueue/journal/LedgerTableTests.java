package io.delayqueue.journal;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import javax.sql.DataSource;

import io.delayqueue.QueueName;
import io.delayqueue.shop.ShopDatabase;
import io.delayqueue.store.LedgerChange;
import io.delayqueue.store.LedgerEntry;
import io.delayqueue.store.LedgerEntry.Kind;
import io.delayqueue.store.Partition;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.core.io.ClassPathResource;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.TransientDataAccessException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/** Tests failures of the statements that record what becomes of messages. */
class LedgerTableTests {

    private static final Partition PARTITION = Partition.first(new QueueName("orders"));

    /**
     * P1: a dead letter whose row is locked is recorded later, and its message keeps its
     * row until then. Only one that the database can never store is left to the store.
     */
    @Test
    void aLockedDeadLetterIsNotGivenUp() throws SQLException {
        DataSource dataSource = created(ShopDatabase.H2, "h2");
        JdbcClient jdbc = JdbcClient.create(dataSource);
        long revision = insert(jdbc, "1");
        LedgerTable table = new LedgerTable(new JournalDatabase(dataSource, "dq"));
        LedgerChange death = new LedgerChange(new LedgerEntry(Kind.DEAD_LETTERED, revision, "1~9"),
                new byte[1024 * 1024]);

        try (Connection other = dataSource.getConnection(); Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("INSERT INTO delayqueue_dead_letter VALUES ('dq', 'orders', '1~9', '1', 0, X'00')");
            assertThatThrownBy(() -> table.record(PARTITION, List.of(death)))
                .isInstanceOf(TransientDataAccessException.class);
            other.rollback();
        }

        assertThat(rows(jdbc, "delayqueue_journal")).isOne();
        table.record(PARTITION, List.of(death));
        assertThat(rows(jdbc, "delayqueue_journal")).isZero();
        assertThat(table.deadLetters(PARTITION.queue(), "", 10)).hasSize(1);
    }

    /**
     * Transactions change rows of the journal in the order of their keys, so no two of
     * them end in a deadlock.
     */
    @Test
    @Tag("server")
    void rowsAreChangedInTheOrderOfTheirKeys() throws Exception {
        DataSource dataSource = created(ShopDatabase.POSTGRESQL, "postgresql");
        JdbcClient jdbc = JdbcClient.create(dataSource);
        long failed = insert(jdbc, "failed");
        long ended = insert(jdbc, "ended");
        LedgerTable table = new LedgerTable(new JournalDatabase(dataSource, "dq"));
        List<LedgerChange> changes = List.of(
                LedgerChange.failed(new LedgerEntry(Kind.FAILED, failed, "failed"), 1, 5000L),
                LedgerChange.of(LedgerEntry.ended(ended, "ended")));

        try (Connection other = dataSource.getConnection(); Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("UPDATE delayqueue_journal SET checks = 1 WHERE revision = " + failed);
            CompletableFuture<Void> recorded = CompletableFuture.runAsync(() -> table.record(PARTITION, changes));
            await().atMost(Duration.ofMinutes(1))
                .until(() -> rows(jdbc, "pg_locks WHERE NOT granted AND locktype = 'transactionid'") == 1);
            statement.execute("UPDATE delayqueue_journal SET checks = 1 WHERE revision = " + ended);
            other.commit();
            recorded.get(1, TimeUnit.MINUTES);
        }

        assertThat(jdbc.sql("SELECT failures FROM delayqueue_journal").query(Integer.class).list()).containsExactly(1);
    }

    /**
     * P6: a transactional listener takes a message without a row for a lost one, unless
     * it finds an accepted cancel.
     */
    @Test
    void theRowOfAMessageIsNotDeletedBeforeItsCancelIsAccepted() {
        DataSource dataSource = created(ShopDatabase.H2, "h2");
        JdbcClient jdbc = JdbcClient.create(dataSource);
        long message = insert(jdbc, "1");
        long cancel = insert(jdbc, "1");
        jdbc.sql("UPDATE delayqueue_journal SET operation = 'C', accepted = FALSE WHERE revision = ?")
            .param(cancel)
            .update();
        jdbc.sql("ALTER TABLE delayqueue_journal ADD CONSTRAINT no_cancels CHECK (operation = 'S' OR NOT accepted)")
            .update();
        JournalTable table = new JournalTable(new JournalDatabase(dataSource, "dq"), Duration.ofSeconds(10));
        List<AcceptedRowUpdate> accepted = List.of(new AcceptedRowUpdate(cancel, null, Duration.ofHours(1)));

        assertThatThrownBy(() -> table.change(List.of(message), accepted)).isInstanceOf(DataAccessException.class);
        assertThat(rows(jdbc, "delayqueue_journal")).isEqualTo(2);
        jdbc.sql("ALTER TABLE delayqueue_journal DROP CONSTRAINT no_cancels").update();
        table.change(List.of(message), accepted);

        assertThat(rows(jdbc, "delayqueue_journal WHERE accepted = TRUE AND operation = 'C'")).isOne();
        assertThat(rows(jdbc, "delayqueue_journal")).isOne();
    }

    /** The same order applies to rows that are accepted and deleted together. */
    @Test
    @Tag("server")
    void rowsAreAcceptedAndDeletedInTheOrderOfTheirKeys() throws Exception {
        DataSource dataSource = created(ShopDatabase.POSTGRESQL, "postgresql");
        JdbcClient jdbc = JdbcClient.create(dataSource);
        long pending = insert(jdbc, "pending");
        long replaced = insert(jdbc, "replaced");
        jdbc.sql("UPDATE delayqueue_journal SET accepted = FALSE WHERE revision = ?").param(pending).update();
        JournalTable table = new JournalTable(new JournalDatabase(dataSource, "dq"), Duration.ofSeconds(10));
        List<AcceptedRowUpdate> accepted = List.of(new AcceptedRowUpdate(pending, 5000L, Duration.ofHours(1)));

        try (Connection other = dataSource.getConnection(); Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("UPDATE delayqueue_journal SET checks = 1 WHERE revision = " + pending);
            CompletableFuture<Void> changed = CompletableFuture
                .runAsync(() -> table.change(List.of(replaced), accepted));
            await().atMost(Duration.ofMinutes(1))
                .until(() -> rows(jdbc, "pg_locks WHERE NOT granted AND locktype = 'transactionid'") == 1);
            statement.execute("UPDATE delayqueue_journal SET checks = 1 WHERE revision = " + replaced);
            other.commit();
            changed.get(1, TimeUnit.MINUTES);
        }

        assertThat(jdbc.sql("SELECT due_millis FROM delayqueue_journal WHERE accepted = TRUE").query(Long.class).list())
            .containsExactly(5000L);
    }

    /**
     * The first request of an id is not applied while its queue does not answer, so the
     * relay would read those that follow it again and again.
     */
    @Test
    void requestsThatFollowOthersAreNotClaimedWhileTheirQueueIsLeft() {
        DataSource dataSource = created(ShopDatabase.H2, "h2");
        JdbcClient jdbc = JdbcClient.create(dataSource);
        long first = insert(jdbc, "1");
        insert(jdbc, "1");
        jdbc.sql("UPDATE delayqueue_journal SET accepted = FALSE").update();
        JournalTable table = new JournalTable(new JournalDatabase(dataSource, "dq"), Duration.ofSeconds(10));
        RequestsBehind behind = new RequestsBehind(1000);
        AbandonedRequests left = new AbandonedRequests(table, behind, PARTITION.queue()::equals);
        AbandonedRequests applied = new AbandonedRequests(table, behind, (queue) -> false);

        assertThat(left.claim(Duration.ofSeconds(1))).containsExactly(first);
        assertThat(behind.isEmpty()).isTrue();
        assertThat(rows(jdbc, "delayqueue_journal WHERE claimed_by = '-'")).as("not claimed").isOne();

        jdbc.sql("UPDATE delayqueue_journal SET claimed_until = 0").update();
        assertThat(applied.claim(Duration.ofSeconds(1))).containsExactly(first);
        assertThat(behind.size()).isOne();
    }

    /** P6: the search for cancels among many rows ends within a time limit. */
    @Test
    void aSearchForCancelsReadsAPageOfRowsAtOnce() {
        DataSource dataSource = created(ShopDatabase.H2, "h2");
        JdbcClient jdbc = JdbcClient.create(dataSource);
        jdbc.sql("INSERT INTO delayqueue_journal (namespace, queue_name, message_id, operation, due_relative, "
                + "recorded_at, accepted, checks, claimed_by, claimed_until) "
                + "SELECT 'dq', 'orders', X, CASE WHEN X = 10001 THEN 'C' ELSE 'S' END, FALSE, 0, TRUE, 0, '-', X "
                + "FROM SYSTEM_RANGE(1, 10001)")
            .update();
        CancelRows cancels = new CancelRows(
                new JournalTable(new JournalDatabase(dataSource, "dq"), Duration.ofSeconds(10)));
        RestoreCursor start = RestoreCursor.start(0).nextPart();

        CancelRows.Page first = cancels.page(PARTITION.queue(), start, 100);
        CancelRows.Page second = cancels.page(PARTITION.queue(), behind(start, first), 100);
        CancelRows.Page third = cancels.page(PARTITION.queue(), behind(start, second), 100);

        assertThat(first).isEqualTo(new CancelRows.Page(List.of(), new DueRevision(10_000, 10_000)));
        DueRevision cancel = new DueRevision(10_001, 10_001);
        assertThat(second).isEqualTo(new CancelRows.Page(List.of(cancel), cancel));
        assertThat(third).isEqualTo(new CancelRows.Page(List.of(), null));
    }

    /**
     * The messages that are due first may be the last ones in the order of the index. A
     * row whose next check is distant is not of an overdue message.
     */
    @Test
    void aSearchForMessagesThatAreDueSoonReadsAPageOfRowsAtOnce() {
        DataSource dataSource = created(ShopDatabase.H2, "h2");
        JdbcClient jdbc = JdbcClient.create(dataSource);
        jdbc.sql("INSERT INTO delayqueue_journal (namespace, queue_name, message_id, operation, due_millis, "
                + "due_relative, recorded_at, accepted, checks, claimed_by, claimed_until) "
                + "SELECT 'dq', 'orders', X, CASE WHEN X = 10001 THEN 'C' ELSE 'S' END, 20000 - X, FALSE, 0, TRUE, 0, "
                + "'-', CASE WHEN X = 10004 THEN 4000000000000 ELSE X END FROM SYSTEM_RANGE(1, 10004)")
            .update();
        JournalTable table = new JournalTable(new JournalDatabase(dataSource, "dq"), Duration.ofSeconds(10));
        RestoreSelection all = new RestoreSelection(List.of(), null, null);
        RestoreCursor start = RestoreCursor.start(19_999);

        DueSoonKeys first = new DueSoonKeys(table, all, start, 3);
        assertThat(List.of(first.step(), first.step())).containsExactly(true, false);
        DueSoonKeys second = new DueSoonKeys(table, all, start.behind(10_000, 10_000), 3);
        assertThat(List.of(second.step(), second.step())).containsExactly(true, false);

        assertThat(first.keys()).containsExactly(new DueRevision(9997, 10_003), new DueRevision(9998, 10_002),
                new DueRevision(10_000, 10_000));
        assertThat(second.keys()).containsExactly(new DueRevision(10_001, 9999), new DueRevision(10_002, 9998),
                new DueRevision(10_003, 9997));
    }

    private static RestoreCursor behind(RestoreCursor cursor, CancelRows.Page page) {
        return cursor.behind(page.last().due(), page.last().revision());
    }

    private static long insert(JdbcClient jdbc, String id) {
        jdbc.sql("INSERT INTO delayqueue_journal (namespace, queue_name, message_id, operation, due_relative, "
                + "recorded_at, accepted, checks, claimed_by, claimed_until) "
                + "VALUES ('dq', 'orders', ?, 'S', FALSE, 0, TRUE, 0, '-', 0)")
            .param(id)
            .update();
        return jdbc.sql("SELECT MAX(revision) FROM delayqueue_journal").query(Long.class).single();
    }

    /** Returns a new database with the tables of the journal. */
    private static DataSource created(ShopDatabase database, String platform) {
        DataSource dataSource = new DriverManagerDataSource(database.url());
        new ResourceDatabasePopulator(new ClassPathResource("io/delayqueue/journal/schema-%s.sql".formatted(platform)))
            .execute(dataSource);
        return dataSource;
    }

    private static long rows(JdbcClient jdbc, String table) {
        return jdbc.sql("SELECT COUNT(*) FROM " + table).query(Long.class).single();
    }

}
