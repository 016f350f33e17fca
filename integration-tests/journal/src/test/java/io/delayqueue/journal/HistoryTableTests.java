package io.delayqueue.journal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.delayqueue.QueueName;
import io.delayqueue.admin.HistoryEntry;
import io.delayqueue.admin.HistoryEntry.Event;
import io.delayqueue.admin.MessageHistory;
import io.delayqueue.shop.EachDatabase;
import io.delayqueue.shop.ShopDatabase;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.core.io.ClassPathResource;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the SQL of the history on each kind of database. */
@Tag("server")
class HistoryTableTests {

    private static final QueueName QUEUE = new QueueName("orders");

    private static final Duration RETENTION = Duration.ofDays(1);

    private static final Duration OLD = RETENTION.plusHours(1);

    private DriverManagerDataSource dataSource;

    private JdbcClient jdbc;

    private HistoryTable create(ShopDatabase database) {
        this.dataSource = new DriverManagerDataSource(database.url());
        String script = "io/delayqueue/journal/schema-%s.sql".formatted(database.name().toLowerCase(Locale.ROOT));
        new ResourceDatabasePopulator(new ClassPathResource(script)).execute(this.dataSource);
        this.jdbc = JdbcClient.create(this.dataSource);
        return table("dq");
    }

    private HistoryTable table(String namespace) {
        return new HistoryTable(new JournalDatabase(this.dataSource, namespace), "node", System::nanoTime);
    }

    private static HistoryRow row(String id, Duration age) {
        return new HistoryRow(QUEUE, id, System.nanoTime() - age.toNanos(), Event.HANDLED, null, null);
    }

    private static void insert(HistoryTable table, int rows, Duration age) {
        for (int i = 0; i < rows; i += HistoryWriter.BATCH_LIMIT) {
            table.insert(IntStream.range(i, Math.min(rows, i + HistoryWriter.BATCH_LIMIT))
                .mapToObj((number) -> row("order-" + number, age))
                .toList(), false);
        }
    }

    private long rows() {
        return this.jdbc.sql("SELECT COUNT(*) FROM delayqueue_history").query(Long.class).single();
    }

    @EachDatabase
    void aTransactionDeletesAThousandRowsAtMostAndNoneOfAnotherNamespace(ShopDatabase database) {
        HistoryTable table = create(database);
        insert(table, 2100, OLD);
        insert(table, 5, Duration.ZERO);
        insert(table("other"), 3, OLD);

        assertThat(table.deleteOlderThan(RETENTION)).isEqualTo(1000);
        assertThat(table.deleteOlderThan(RETENTION)).isEqualTo(1000);
        assertThat(table.deleteOlderThan(RETENTION)).isEqualTo(100);
        assertThat(table.deleteOlderThan(RETENTION)).isZero();
        assertThat(rows()).isEqualTo(8);
    }

    @EachDatabase
    void theRowsOfAnIdAreDeletedHoweverManyThereAre(ShopDatabase database) {
        HistoryTable table = create(database);
        IntStream.range(0, 5)
            .forEach((batch) -> table
                .insert(IntStream.range(0, 500).mapToObj((number) -> row("42", Duration.ZERO)).toList(), false));
        table.insert(List.of(row("421", Duration.ZERO)), false);
        table("other").insert(List.of(row("42", Duration.ZERO)), false);

        assertThat(table.read(QUEUE, "42", MessageHistory.MAX_ENTRIES)).hasSize(MessageHistory.MAX_ENTRIES);
        assertThat(table.delete(QUEUE, "42")).isEqualTo(2500);
        assertThat(rows()).isEqualTo(2);
    }

    /** A search asks for a thousand queues at a time. */
    @EachDatabase
    void theQueuesOfAnIdAreThoseAskedForInTheNamespace(ShopDatabase database) {
        HistoryTable table = create(database);
        table.insert(List.of(row("42", OLD), row("42", Duration.ZERO), row("421", Duration.ZERO)), false);
        table.insert(List.of("receipts", "invoices", "not-asked")
            .stream()
            .map((queue) -> new HistoryRow(new QueueName(queue), queue.equals("invoices") ? "A42" : "42",
                    System.nanoTime(), Event.HANDLED, null, null))
            .toList(), false);
        table("other").insert(
                List.of(new HistoryRow(new QueueName("q-7"), "42", System.nanoTime(), Event.HANDLED, null, null)),
                false);
        List<String> asked = Stream
            .concat(Stream.of("orders", "receipts", "invoices"), IntStream.range(0, 997).mapToObj((i) -> "q-" + i))
            .toList();

        assertThat(asked).hasSize(1000);
        assertThat(table.queuesOf("42", asked)).containsExactlyInAnyOrder("orders", "receipts");
        assertThat(table.queuesOf("A42", asked)).containsExactly("invoices");
        assertThat(table.queuesOf("a42", asked)).as("ids are case-sensitive").isEmpty();
    }

    /** A batch of rows is more than one statement, and one transaction. */
    @EachDatabase
    void aBatchIsInsertedAllOrNone(ShopDatabase database) {
        HistoryTable table = create(database);
        List<HistoryRow> batch = IntStream.range(0, 120).mapToObj((number) -> {
            boolean failed = number % 2 == 1;
            return new HistoryRow(QUEUE, "42", System.nanoTime(), failed ? Event.FAILED : Event.CLAIMED,
                    failed ? null : number, failed ? "cause " + number : null);
        }).toList();
        List<HistoryRow> refused = new ArrayList<>(batch);
        refused.add(new HistoryRow(QUEUE, "42", System.nanoTime(), Event.FAILED, null, "x".repeat(501)));

        assertThatThrownBy(() -> table.insert(refused, false)).isInstanceOf(DataAccessException.class);
        assertThat(rows()).isZero();
        table.insert(batch, false);
        table.insert(batch, true);
        assertThat(rows()).isEqualTo(120);
        List<HistoryEntry> entries = table.read(QUEUE, "42", MessageHistory.MAX_ENTRIES);
        assertThat(entries).hasSize(120);
        assertThat(entries.get(118).event()).isEqualTo(Event.CLAIMED);
        assertThat(entries.get(118).attempt()).isEqualTo(118);
        assertThat(entries.get(119).event()).isEqualTo(Event.FAILED);
        assertThat(entries.get(119).detail()).isEqualTo("cause 119");
    }

    /** Nodes clean up at the same time, while others insert: none of them fails. */
    @EachDatabase
    void severalNodesDeleteTheSameRows(ShopDatabase database) throws Exception {
        HistoryTable table = create(database);
        insert(table, 6000, OLD);
        ExecutorService nodes = Executors.newFixedThreadPool(4);
        try {
            List<Callable<Integer>> tasks = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                tasks.add(() -> {
                    HistoryTable node = table("dq");
                    int deleted = node.deleteOlderThan(RETENTION);
                    while (deleted > 0) {
                        deleted = node.deleteOlderThan(RETENTION);
                    }
                    return 0;
                });
            }
            tasks.add(() -> {
                insert(table("dq"), 2000, Duration.ZERO);
                return 0;
            });
            for (Future<Integer> task : nodes.invokeAll(tasks)) {
                task.get();
            }
        }
        finally {
            nodes.shutdownNow();
        }

        assertThat(rows()).isEqualTo(2000);
    }

    @EachDatabase
    void aRepeatedBatchIsThereOnce(ShopDatabase database) {
        HistoryTable table = create(database);
        List<HistoryRow> batch = List.of(row("1", Duration.ZERO), row("2", Duration.ZERO));
        table.insert(batch, false);

        table.insert(batch, true);
        table.insert(List.of(row("3", Duration.ZERO)), true);

        assertThat(rows()).isEqualTo(3);
    }

    /** Two nodes have different monotonic clocks, and the order is that of the events. */
    @EachDatabase
    void theTimesOfAllNodesAreThoseOfTheDatabase(ShopDatabase database) {
        HistoryTable first = create(database);
        long skew = -Duration.ofHours(7).toNanos();
        HistoryTable second = new HistoryTable(new JournalDatabase(this.dataSource, "dq"), "second",
                () -> System.nanoTime() + skew);

        second.insert(List.of(new HistoryRow(QUEUE, "42", System.nanoTime() + skew, Event.CLAIMED, 1, null)), false);
        first.insert(List.of(new HistoryRow(QUEUE, "42", System.nanoTime() - Duration.ofSeconds(1).toNanos(),
                Event.SENT, null, null)), false);

        assertThat(first.read(QUEUE, "42", 10)).extracting("event").containsExactly(Event.SENT, Event.CLAIMED);
    }

    /** With many rows, neither a read nor the cleanup reads the whole table. */
    @Test
    void readsAndTheCleanupUseTheIndexes() {
        create(ShopDatabase.POSTGRESQL);
        this.jdbc.sql("""
                INSERT INTO delayqueue_history (namespace, queue_name, message_id, occurred_at, node, event)
                SELECT 'dq', 'orders', 'order-' || (n / 3), n, 'node', 'SENT' FROM generate_series(1, 300000) n""")
            .update();
        this.jdbc.sql("ANALYZE delayqueue_history").update();

        assertThat(plan("SELECT entry FROM delayqueue_history WHERE namespace = 'dq' AND occurred_at < 200000 "
                + "ORDER BY occurred_at LIMIT 1000"))
            .contains("delayqueue_history_age")
            .doesNotContain("Seq Scan", "Sort");
        assertThat(plan("SELECT * FROM delayqueue_history WHERE namespace = 'dq' AND queue_name = 'orders' "
                + "AND message_id = 'order-4711' ORDER BY occurred_at DESC, entry DESC LIMIT 1000"))
            .contains("delayqueue_history_message")
            .doesNotContain("Seq Scan");
        assertThat(plan("DELETE FROM delayqueue_history WHERE entry IN (%s)"
            .formatted(String.join(", ", IntStream.rangeClosed(1, 1000).mapToObj(String::valueOf).toList()))))
            .contains("delayqueue_history_pkey")
            .doesNotContain("Seq Scan");
    }

    private String plan(String statement) {
        return String.join("\n", this.jdbc.sql("EXPLAIN " + statement).query(String.class).list());
    }

}
