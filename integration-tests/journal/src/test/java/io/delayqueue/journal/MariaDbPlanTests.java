package io.delayqueue.journal;

import java.time.Duration;
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

import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

import static org.assertj.core.api.Assertions.assertThat;

/** Counts the rows that MariaDB reads for each statement of the journal. */
@Tag("server")
@Tag("matrix")
class MariaDbPlanTests {

    private static final int ROWS = Integer.getInteger("dq.journal.rows", 200_000);

    private static final Duration DELAY = Duration.ofSeconds(60);

    private static final QueueName QUEUE = new QueueName("orders");

    private static final RestoreSelection ALL = new RestoreSelection(List.of("orders"), null, null);

    private SingleConnectionDataSource dataSource;

    private JdbcClient jdbc;

    private JournalTable table;

    @BeforeEach
    void create() {
        // The counts are those of a session.
        this.dataSource = new SingleConnectionDataSource(ShopDatabase.MARIADB.url(), true);
        new ResourceDatabasePopulator(new ClassPathResource("io/delayqueue/journal/schema-mariadb.sql"))
            .execute(this.dataSource);
        this.jdbc = JdbcClient.create(this.dataSource);
        this.table = new JournalTable(new JournalDatabase(this.dataSource, "dq"), Duration.ofSeconds(10));
        this.table.queues();
    }

    @AfterEach
    void close() {
        if (this.dataSource != null) { // null without MariaDB
            this.dataSource.destroy();
        }
    }

    /** Inserts rows, of which a tenth is not accepted yet; a thousand are overdue. */
    private void insert() {
        this.jdbc.sql("""
                INSERT INTO delayqueue_journal (namespace, queue_name, message_id, operation, on_duplicate, due_millis,
                  due_relative, recorded_at, priority, envelope, accepted, checks, claimed_by, claimed_until)
                SELECT 'dq', 'orders', CONCAT('order-', seq), IF(seq % 10 = 1, 'C', 'S'), 'KEEP', 4000000000000,
                  FALSE, 0, 4, 'envelope', seq % 10 <> 0, 0, 'another', IF(seq <= 1000, seq, 4000000000000 + seq)
                FROM seq_1_to_""" + ROWS).update();
    }

    @Test
    void noStatementReadsMoreRowsThanItNeeds() {
        insert();
        this.jdbc.sql("ANALYZE TABLE delayqueue_journal").query().listOfRows();

        assertReadsOfEveryStatement();
    }

    /** The statistics of InnoDB are collected in the background, a while later. */
    @Test
    void noStatementReadsMoreRowsThanItNeedsWithoutStatistics() {
        this.jdbc.sql("ALTER TABLE delayqueue_journal STATS_AUTO_RECALC = 0").update();
        insert();

        assertReadsOfEveryStatement();
    }

    private void assertReadsOfEveryStatement() {
        List<Long> some = LongStream.rangeClosed(50_001, 50_100).boxed().toList();
        List<LedgerChange> ended = some.stream()
            .map((revision) -> LedgerChange.of(LedgerEntry.ended(revision, "order-" + revision)))
            .toList();

        assertReads("queues", 10, () -> this.table.queues());
        assertReads("hasAccepted", 20, () -> assertThat(this.table.hasAccepted(QUEUE)).isTrue());
        assertReads("read", 600, () -> this.table.read(some));
        assertReads("acceptedOf", 10, () -> this.table.acceptedOf(QUEUE, List.of("order-50003")));
        List<JournalRow> overdue = this.table.dueForCheck(100);
        assertThat(overdue).hasSize(100);
        assertReads("dueForCheck", 1000, () -> this.table.dueForCheck(100));
        assertReads("claimAbandoned", 1000, () -> this.table.claimAbandoned(DELAY));
        assertReads("a page of a restore", 10_000, () -> page(JournalRequest.Operation.SEND));
        assertReads("the cancels of a restore", 20_000, () -> page(JournalRequest.Operation.CANCEL));
        assertReads("postpone", 600, () -> this.table.postpone(overdue, (row) -> Duration.ofHours(1), (row) -> true));
        assertReads("release", 600, () -> this.table.release(some, DELAY));
        assertReads("the end of messages", 1000,
                () -> new LedgerTable(this.table.database()).record(Partition.first(QUEUE), ended));
        assertReads("delete", 600, () -> this.table.delete(LongStream.rangeClosed(1, 100).boxed().toList()));
    }

    private List<JournalRow> page(JournalRequest.Operation operation) {
        return this.table.accepted(ALL, operation, 0, RestoreCursor.start(0).nextPart(), 1000);
    }

    private void assertReads(String statement, long limit, Runnable call) {
        long before = read();
        call.run();
        assertThat(read() - before).as("rows read by '%s'", statement).isLessThanOrEqualTo(limit);
    }

    /** Returns the number of rows and index entries that this session has read. */
    private long read() {
        return this.jdbc.sql("SHOW SESSION STATUS LIKE 'Handler_read%'")
            .query((row, number) -> row.getLong(2))
            .list()
            .stream()
            .mapToLong(Long::longValue)
            .sum();
    }

}
