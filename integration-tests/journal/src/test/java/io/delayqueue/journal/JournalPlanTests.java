package io.delayqueue.journal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;

import io.delayqueue.QueueName;
import io.delayqueue.shop.ShopDatabase;
import io.delayqueue.store.LedgerChange;
import io.delayqueue.store.LedgerEntry;
import io.delayqueue.store.Partition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Counts the rows that PostgreSQL reads for each statement of the journal, in a table of
 * a million.
 */
@Tag("server")
@Tag("matrix")
class JournalPlanTests {

    private static final int ROWS = Integer.getInteger("dq.journal.rows", 1_000_000);

    private static final Duration DELAY = Duration.ofSeconds(60);

    private static final QueueName QUEUE = new QueueName("orders");

    private static final RestoreSelection ALL = new RestoreSelection(List.of("orders"), null, null);

    private SingleConnectionDataSource dataSource;

    private JdbcClient jdbc;

    private JournalTable table;

    @BeforeEach
    void create() {
        // Closing the connection would begin other counts.
        this.dataSource = new SingleConnectionDataSource(ShopDatabase.POSTGRESQL.url(), true);
        new ResourceDatabasePopulator(new ClassPathResource("io/delayqueue/journal/schema-postgresql.sql"))
            .execute(this.dataSource);
        this.jdbc = JdbcClient.create(this.dataSource);
        this.table = new JournalTable(new JournalDatabase(this.dataSource, "dq"), Duration.ofSeconds(10));
        this.jdbc.sql("ALTER TABLE delayqueue_journal SET (autovacuum_enabled = FALSE)").update();
        this.table.queues();
    }

    /** Inserts rows, of which a tenth is not accepted yet; some are overdue. */
    private void insert(int first, int last, int overdue) {
        this.jdbc.sql("""
                INSERT INTO delayqueue_journal (namespace, queue_name, message_id, operation, on_duplicate, due_millis,
                  due_relative, recorded_at, priority, envelope, accepted, checks, claimed_by, claimed_until)
                SELECT 'dq', 'orders', 'order-' || i, CASE WHEN i % 10 = 1 THEN 'C' ELSE 'S' END, 'KEEP', 4000000000000,
                  FALSE, 0, 4, 'envelope', i % 10 <> 0, 0, 'another', CASE WHEN i <= ? THEN i ELSE 4000000000000 + i END
                FROM generate_series(?, ?) i""").params(overdue, first, last).update();
    }

    private void analyze() {
        this.jdbc.sql("ANALYZE delayqueue_journal").update();
    }

    @AfterEach
    void close() {
        this.dataSource.destroy();
    }

    @Test
    void noStatementReadsMoreRowsThanItNeeds() {
        JournalStatements statements = new JournalStatements(this.jdbc, this.table, this::reads);
        // A thousand each are overdue and abandoned.
        statements.fill("generate_series(1, " + ROWS + ") i", 10_000);
        this.jdbc.sql("ANALYZE").update();

        statements.assertReads();
    }

    /**
     * Statistics are collected once a minute, and a table can grow by a thousand rows a
     * second, as it does while Redis is away. No statement may compare each row with each
     * other then, but it may read all rows once.
     */
    @ParameterizedTest
    @ValueSource(ints = { 0, 1, 100 })
    void noStatementIsQuadraticInATableThatHasGrownSinceItsStatistics(int analyzed) {
        int rows = 30_000;
        insert(1, analyzed, rows);
        if (analyzed > 0) {
            analyze();
        }
        insert(analyzed + 1, rows, rows);

        assertReads("acceptedOf", 10, () -> this.table.acceptedOf(QUEUE, List.of("order-10003")));
        assertReads("queues", 10, () -> this.table.queues());
        assertReads("hasAccepted", 20, () -> assertThat(this.table.hasAccepted(QUEUE)).isTrue());
        assertReads("hasAccepted of another queue", 20,
                () -> assertThat(this.table.hasAccepted(new QueueName("payments"))).isFalse());
        assertReads("a page of a restore", rows + 5000, () -> page(ALL));
        List<DueRevision> cancels = new ArrayList<>();
        assertReads("the cancels of a restore", rows + 5000, () -> cancels.addAll(cancels()));
        assertReads("the rows of these cancels", 1200, () -> new CancelRows(this.table).effective(cancels));
        assertReads("a step of the search for messages that are due soon", rows + 5000, this::searchDueSoon);
        assertReads("dueForCheck", rows + 1000, () -> this.table.dueForCheck(100));
        assertReads("claimAbandoned", rows + 1000, () -> assertThat(claimAbandoned()).hasSize(100));
        this.jdbc.sql("UPDATE delayqueue_journal SET claimed_until = 0").update();
        List<Long> claimed = claimAbandoned();
        assertReads("read", 2000, () -> assertThat(this.table.read(claimed)).hasSize(100));
    }

    /**
     * The driver keeps the plans of statements, also those that were made while the table
     * was empty, as that of a ledger often is. A table that has grown since must not be
     * read whole for each row.
     */
    @Test
    void noPlanOfAnEmptyTableIsUsedForOneThatHasGrown() {
        HandledTable handled = new HandledTable(this.table.database());
        int rows = 20_000;
        this.jdbc.sql("VACUUM delayqueue_journal").update();
        for (int i = 0; i < 10; i++) {
            assertReadsOfEveryStatement(rows, handled);
        }
        insert(1, rows, rows);

        assertReadsOfEveryStatement(rows, handled);
        assertReads("record of a handled message", 10,
                () -> this.table.database().inNewTransaction(() -> handled.insert(QUEUE, "order-15001", 15_001)));
    }

    /**
     * Statements about keys read the rows of these keys. Without statistics of the table,
     * each of those that select by time reads it once.
     */
    private void assertReadsOfEveryStatement(int rows, HandledTable handled) {
        List<Long> revisions = LongStream.rangeClosed(1, 100).boxed().toList();
        List<AcceptedRowUpdate> accepted = revisions.stream()
            .map((revision) -> new AcceptedRowUpdate(revision, 1L, DELAY))
            .toList();
        List<LedgerChange> ended = revisions.stream()
            .map((revision) -> LedgerChange.of(LedgerEntry.ended(revision, "order-" + revision)))
            .toList();
        LedgerTable ledger = new LedgerTable(this.table.database());

        assertReads("queues", 10, () -> this.table.queues());
        assertReads("read", 400, () -> this.table.read(revisions));
        assertReads("acceptedOf", 10, () -> this.table.acceptedOf(QUEUE, List.of("order-10003")));
        assertReads("dueForCheck", rows + 1000, () -> this.table.dueForCheck(100));
        assertReads("claimAbandoned", 4000, this::claimAbandoned);
        assertReads("a page of a restore", rows + 5000, () -> page(ALL));
        assertReads("a step of the search for messages that are due soon", rows + 1000, this::searchDueSoon);
        assertReads("release", 400, () -> this.table.release(revisions, DELAY));
        assertReads("accept", 400, () -> this.table.accept(accepted));
        assertReads("the end of messages", 1000, () -> ledger.record(Partition.first(QUEUE), ended));
        assertReads("delete", 400, () -> this.table.delete(revisions));
        assertReads("a message without a row", 10,
                () -> this.table.database().inNewTransaction(() -> handled.insert(QUEUE, "none", -1)));
    }

    /**
     * Requests about one id that another node has not finished do not keep this node from
     * requests about others.
     */
    @Test
    void requestsBehindAnotherDoNotConcealAbandonedRows() {
        insert(1, 1010, 1010);
        analyze();
        this.jdbc
            .sql("""
                    UPDATE delayqueue_journal SET accepted = FALSE, message_id = CASE WHEN revision <= 1000 THEN 'one' ELSE message_id END,
                      claimed_until = CASE WHEN revision = 1 THEN 4000000000000 ELSE revision END""")
            .update();

        List<Long> claimed = new ArrayList<>();
        while (claimed.addAll(claimAbandoned())) {
            assertThat(claimed).doesNotHaveDuplicates();
        }
        assertThat(claimed).containsExactlyElementsOf(LongStream.rangeClosed(1001, 1010).boxed().toList());
    }

    /**
     * A restore reads each dead letter once: no page counts those of all queues, nor does
     * the search for queues, which each node repeats.
     */
    @Test
    void noPageOfDeadLettersReadsTheOthers() {
        this.jdbc
            .sql("""
                    INSERT INTO delayqueue_dead_letter (namespace, queue_name, dead_letter_id, message_id, partition_number,
                      content)
                    SELECT 'dq', CASE WHEN i % 2 = 0 THEN 'orders' ELSE 'payments' END, 'order-' || i || '~1', 'order-' || i,
                      0, 'content' FROM generate_series(1, 20000) i""")
            .update();
        this.jdbc.sql("VACUUM (ANALYZE, INDEX_CLEANUP ON) delayqueue_dead_letter").update();
        LedgerTable ledger = new LedgerTable(this.table.database());

        assertReads("queues", 10, () -> assertThat(ledger.queues()).containsExactly(QUEUE, new QueueName("payments")));
        assertReads("the next queue", 10, () -> assertThat(ledger.nextQueue("payments")).isEmpty());
        assertReads("a page", 50, () -> assertThat(ledger.deadLetters(QUEUE, "order-15000~1", 20)).hasSize(20));
    }

    /**
     * The work of nodes in each second costs nothing while millions of rows are due
     * later.
     */
    @Test
    void nothingIsReadIfNothingIsOverdue() {
        insert(1, ROWS, 0);
        this.jdbc.sql("VACUUM (ANALYZE, INDEX_CLEANUP ON) delayqueue_journal").update();

        assertReads("dueForCheck", 10, () -> this.table.dueForCheck(100));
        assertReads("claimAbandoned", 10, this::claimAbandoned);
        assertReads("the age of the oldest request", 4000, this::readDelay);
    }

    private void readDelay() {
        new RelayDelay(this.table.database(), new JournalStatus()).read();
    }

    private List<Long> claimAbandoned() {
        return new AbandonedRequests(this.table, new RequestsBehind(100), (queue) -> false).claim(DELAY);
    }

    private void searchDueSoon() {
        new DueSoonKeys(this.table, ALL, RestoreCursor.start(1), 100).step();
    }

    private List<DueRevision> cancels() {
        return new CancelRows(this.table).page(QUEUE, RestoreCursor.start(0).nextPart(), 100).keys();
    }

    private List<JournalRow> page(RestoreSelection selection) {
        return this.table.acceptedSends(selection, 0, RestoreCursor.start(0).nextPart(), 1000, new ArrayList<>());
    }

    private void assertReads(String statement, long limit, Runnable call) {
        assertThat(reads(call)).as("rows read by '%s'", statement).isLessThanOrEqualTo(limit);
    }

    /** Returns the number of rows and index entries that a call reads. */
    private long reads(Runnable call) {
        long before = read();
        call.run();
        return read() - before;
    }

    private long read() {
        this.jdbc.sql("SELECT pg_stat_force_next_flush() IS NULL").query(Boolean.class).single();
        this.jdbc.sql("SELECT 1").query(Integer.class).single();
        this.jdbc.sql("SELECT pg_stat_clear_snapshot() IS NULL").query(Boolean.class).single();
        return this.jdbc.sql("""
                SELECT SUM(t.seq_tup_read
                  + (SELECT SUM(i.idx_tup_read) FROM pg_stat_user_indexes i WHERE i.relid = t.relid))
                FROM pg_stat_user_tables t""").query(Long.class).single();
    }

}
