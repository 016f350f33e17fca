package io.delayqueue.journal;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import io.delayqueue.QueueName;
import io.delayqueue.admin.HistoryEntry.Event;
import io.delayqueue.journal.LedgerTable.Row;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.LedgerChange;
import io.delayqueue.store.LedgerEntry;
import io.delayqueue.store.LedgerEntry.Kind;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.RecordedDeadLetter;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.test.util.ReflectionTestUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Runs every statement of the journal on full tables, and compares the rows that the
 * database reads for it with what it needs.
 */
final class JournalStatements {

    /** Statements without a test of their plans, and why. */
    private static final Map<String, String> EXEMPT = Map.of(
            "FROM (SELECT pg_get_serial_sequence('delayqueue_journal', 'revision')::regclass AS s) q",
            "reads the sequence, after a loss",
            "INSERT INTO delayqueue_journal (%snamespace, queue_name, message_id, operation, due_relative, "
                    + "recorded_at, accepted, checks, claimed_by, claimed_until) VALUES (%s:namespace, '-', '-', 'C', "
                    + "FALSE, 0, FALSE, 0, '-', 0)",
            "inserts a row, after a loss", "ALTER TABLE delayqueue_journal ALTER COLUMN revision RESTART WITH",
            "changes the sequence, after a loss",
            "WHERE LOWER(table_name) = 'delayqueue_journal' AND LOWER(column_name) = 'revision'",
            "reads the catalog of H2, after a loss", "WHERE 1 = 0 AND %s IS NULL", "reads nothing, at the start");

    private static final Path SOURCES = Path.of("../../delayqueue-autoconfigure/src/main/java/io/delayqueue/journal");

    private static final Pattern LITERAL = Pattern.compile("\"\"\"(.*?)\"\"\"|\"((?:[^\"\\\\\n]|\\\\.)*)\"",
            Pattern.DOTALL);

    private static final Predicate<String> STATEMENT = Pattern
        .compile("\\b(FROM|INTO|UPDATE|TABLE|serial_sequence\\('|=) ?'?delayqueue_[a-z]|^WHERE ")
        .asPredicate();

    private static final Duration DELAY = Duration.ofSeconds(60);

    private static final QueueName QUEUE = new QueueName("orders");

    private static final Partition PARTITION = Partition.first(QUEUE);

    private static final RestoreSelection ALL = new RestoreSelection(List.of("orders"), null, null);

    private final JdbcClient jdbc;

    private final JournalDatabase database;

    private final JournalTable table;

    private final ToLongFunction<Runnable> reads;

    private final List<String> exceeded = new ArrayList<>();

    /**
     * Creates the statements.
     * @param reads returns how many rows and entries of indexes a call has read
     */
    JournalStatements(JdbcClient jdbc, JournalTable table, ToLongFunction<Runnable> reads) {
        this.jdbc = jdbc;
        this.database = table.database();
        this.table = table;
        this.reads = reads;
    }

    /**
     * Fills all tables. In the journal a tenth of the rows is not accepted; in the
     * others, most rows are old.
     * @param series selects the numbers from 1 to that of the rows, as {@code i}
     * @param overdue the number of rows of the journal that are overdue or abandoned
     */
    void fill(String series, int overdue) {
        this.jdbc.sql("""
                INSERT INTO delayqueue_journal (namespace, queue_name, message_id, operation, on_duplicate, due_millis,
                  due_relative, recorded_at, priority, envelope, accepted, checks, claimed_by, claimed_until)
                SELECT 'dq', 'orders', CONCAT('order-', i), CASE WHEN i % 10 = 1 THEN 'C' ELSE 'S' END, 'KEEP',
                  4000000000000, FALSE, 0, 4, 'envelope', i % 10 <> 0, 0, 'another',
                  CASE WHEN i <= ? THEN i ELSE 4000000000000 + i END FROM\s""" + series).param(overdue).update();
        this.jdbc
            .sql("""
                    INSERT INTO delayqueue_dead_letter (namespace, queue_name, dead_letter_id, message_id, partition_number,
                      content) SELECT 'dq', CASE WHEN i % 2 = 0 THEN 'orders' ELSE 'payments' END, CONCAT('order-', i, '~1'),
                      CONCAT('order-', i), 0, 'content' FROM\s"""
                    + series)
            .update();
        this.jdbc.sql("""
                INSERT INTO delayqueue_handled (revision, namespace, queue_name, message_id, handled_at)
                SELECT CASE WHEN i <= 2000 THEN -i ELSE i END, 'dq', 'orders', CONCAT('order-', i),
                  CASE WHEN i <= 3000 THEN i ELSE 4000000000000 + i END FROM\s""" + series).update();
        this.jdbc.sql("""
                INSERT INTO delayqueue_ended (namespace, queue_name, recorded_at, revisions)
                SELECT 'dq', 'orders', CASE WHEN i <= 1000 THEN 4000000000000 ELSE i END, ? FROM\s""" + series)
            .param(RevisionCodec.encode(List.of(1L, 2L)))
            .update();
        this.jdbc.sql("""
                INSERT INTO delayqueue_history (namespace, queue_name, message_id, occurred_at, node, event)
                SELECT 'dq', 'orders', CONCAT('order-', i % 100000), i, 'node', 'SENT' FROM\s""" + series).update();
        // Rows that make the rarer statements run.
        this.jdbc.sql("UPDATE delayqueue_journal SET operation = 'X' WHERE revision = 2").update();
        this.jdbc.sql("UPDATE delayqueue_journal SET on_duplicate = 'REPLACE' WHERE revision = 50010").update();
    }

    /** Runs all statements, those that change most last. */
    void assertReads() {
        assertReadsOfQueries();
        assertReadsOfRestores();
        assertReadsOfChanges();
        assertReadsOfEnds();
        assertReadsOfRecords();
        assertReadsOfHistory();
        assertThat(this.exceeded).as("statements that have read more rows than they need").isEmpty();
        assertThat(missing()).as("statements without a limit for their reads").isEmpty();
    }

    private void assertReadsOfQueries() {
        assertReads("queues", 10, () -> assertThat(this.table.queues()).containsExactly(QUEUE));
        assertReads("hasAccepted", 20, () -> assertThat(this.table.hasAccepted(QUEUE)).isTrue());
        assertReads("hasAccepted of another queue", 20,
                () -> assertThat(this.table.hasAccepted(new QueueName("payments"))).isFalse());
        assertReads("read", 600, () -> this.table.read(some()));
        assertReads("acceptedOf", 10,
                () -> assertThat(this.table.acceptedOf(QUEUE, List.of("order-50003"))).hasSize(1));
        assertReads("pendingOf", 600, () -> assertThat(this.table.pendingOf(QUEUE, someIds())).hasSize(10));
        assertReads("the other rows of occurrences", 600,
                () -> assertThat(OccurrenceRows.othersOf(this.database, QUEUE, someIds())).hasSize(80));
        assertReads("the age of the oldest request", 4000,
                () -> new RelayDelay(this.database, new JournalStatus()).read());
        JournalStatus foreign = new JournalStatus();
        foreign.pairs().foreign(new QueueName("payments"));
        assertReads("the age without the queues of another journal", 4000,
                () -> new RelayDelay(this.database, foreign).read());
    }

    private void assertReadsOfRestores() {
        assertReads("a page of a restore", 10_000, () -> page(ALL));
        assertReads("the message of a restore", 10,
                () -> page(new RestoreSelection(List.of("orders"), "order-50003", null)));
        List<DueRevision> cancels = new ArrayList<>();
        // Its 10,000 rows are read twice: to find the last one, and those of cancels.
        assertReads("the cancels of a restore", 20_100, () -> cancels.addAll(cancels()));
        assertReads("the rows of these cancels", 1200, () -> new CancelRows(this.table).effective(cancels));
        List<DueRevision> due = new ArrayList<>();
        assertReads("a step of the search for messages that are due soon", 20_000, () -> due.addAll(dueSoon()));
        assertThat(due).hasSize(100);
        assertReads("the rows of these", 600, () -> assertThat(this.table.accepted(due)).hasSizeGreaterThan(98));
        LedgerTable ledger = new LedgerTable(this.database);
        assertReads("the queues of dead letters", 10,
                () -> assertThat(ledger.queues()).containsExactly(QUEUE, new QueueName("payments")));
        assertReads("the next queue of dead letters", 10, () -> assertThat(ledger.nextQueue("payments")).isEmpty());
        assertReads("a page of dead letters", 50,
                () -> assertThat(ledger.deadLetters(QUEUE, "order-50003~1", 20)).hasSize(20));
        EndedTable ended = new EndedTable(this.database);
        assertReads("a page of the ends of the last hour", 3000,
                () -> assertThat(ended.page(QUEUE, EndedTable.Position.BEGIN)).hasSize(EndedTable.PAGE));
        assertReads("the messages that have not ended", 600,
                () -> assertThat(ended.idsWithRows(Map.of("order-50003", 50_003L, "order-50004", 1L)))
                    .containsExactly("order-50003"));
    }

    private List<DueRevision> dueSoon() {
        DueSoonKeys search = new DueSoonKeys(this.table, ALL, RestoreCursor.start(4_000_000_000_000L), 100);
        assertThat(search.step()).as("further rows whose next checks are soon").isFalse();
        return search.keys();
    }

    private List<DueRevision> cancels() {
        return new CancelRows(this.table).page(QUEUE, RestoreCursor.start(0).nextPart(), 100).keys();
    }

    private List<JournalRow> page(RestoreSelection selection) {
        return this.table.acceptedSends(selection, 0, RestoreCursor.start(0).nextPart(), 1000, new ArrayList<>());
    }

    private void assertReadsOfChanges() {
        NewMessage message = NewMessage.of("new", DueTime.NOW, "envelope".getBytes(StandardCharsets.US_ASCII));
        List<Long> inserted = new ArrayList<>();
        assertReads("insert", 10, () -> inserted.addAll(this.table.insertAlone(
                List.of(JournalRequest.send(QUEUE, message), JournalRequest.reschedule(QUEUE, "new", DueTime.NOW)))));
        assertReads("reschedule", 20, () -> this.table.reschedule(inserted.get(1), inserted.get(0), 1, DELAY));
        assertReads("deleteOwn", 10, () -> this.table.deleteOwn(inserted));
        assertReads("dueForCheck, with a row of another version", 1000, () -> this.table.dueForCheck(100));
        List<JournalRow> overdue = this.table.dueForCheck(100);
        assertThat(overdue).hasSize(100);
        assertReads("postpone", 600, () -> this.table.postpone(overdue, (row) -> Duration.ofHours(1), (row) -> true));
        assertReads("checkSoon", 600, () -> this.table.checkSoon(overdue));
        AbandonedRequests abandoned = new AbandonedRequests(this.table, new RequestsBehind(100), (queue) -> false);
        assertReads("claimAbandoned", 1000, () -> assertThat(abandoned.claim(DELAY)).hasSize(100));
        assertReads("release", 600, () -> this.table.release(some(), DELAY));
        assertReads("endDistantClaims", 1000, () -> this.table.endDistantClaims());
        assertReads("accept", 600,
                () -> this.table.accept(LongStream.rangeClosed(60_001, 60_100)
                    .mapToObj((revision) -> new AcceptedRowUpdate(revision, 1L, DELAY))
                    .toList()));
        assertReads("delete", 600, () -> this.table.delete(LongStream.rangeClosed(101, 200).boxed().toList()));
        assertReads("the identity", 10, () -> {
            JournalIdentity identity = JournalIdentity.read(this.database);
            assertThat(identity.commit(this.database, "node", 0)).isTrue();
        });
    }

    private void assertReadsOfEnds() {
        LedgerTable ledger = new LedgerTable(this.database);
        List<LedgerChange> changes = new ArrayList<>();
        some().forEach((revision) -> changes.add(LedgerChange.of(LedgerEntry.ended(revision, "order-" + revision))));
        LongStream.rangeClosed(50_101, 50_200)
            .forEach((revision) -> changes.add(LedgerChange
                .failed(new LedgerEntry(Kind.FAILED, revision, "order-" + revision), 1, 4_000_000_000_000L)));
        LongStream.rangeClosed(50_201, 50_300)
            .forEach((revision) -> changes.add(new LedgerChange(
                    new LedgerEntry(Kind.DEAD_LETTERED, revision, "order-" + revision + "~2"), new byte[] { 1 })));
        LongStream.rangeClosed(50_301, 50_400)
            .forEach((id) -> changes
                .add(LedgerChange.of(new LedgerEntry(Kind.DEAD_LETTER_REMOVED, 0, "order-" + id + "~1"))));
        assertReads("the changes of 400 messages", 2400, () -> ledger.record(PARTITION, changes));
        JournalRow refused = this.table.acceptedOf(QUEUE, List.of("order-50503")).get(0);
        assertReads("a request that is refused", 20, () -> ledger.recordRefused(refused,
                new Row(0, new RecordedDeadLetter("order-50503~3", new byte[] { 1 })), true));
        EndedTable ended = new EndedTable(this.database);
        assertReads("the removal of old ends", 3000, () -> assertThat(ended.deleteOld()).isTrue());
    }

    private void assertReadsOfRecords() {
        HandledTable handled = new HandledTable(this.database);
        assertReads("record of a handled message", 20,
                () -> assertThat(this.database.inNewTransaction(() -> handled.insert(QUEUE, "order-1003", 1003)))
                    .isTrue());
        assertReads("a message without a row", 10,
                () -> assertThat(this.database.inNewTransaction(() -> handled.insert(QUEUE, "none", -1))).isFalse());
        assertReads("whether a message is handled", 10,
                () -> assertThat(handled.contains(QUEUE, "order-50503", 50_503)).isTrue());
        assertReads("whether a message has ended", 20,
                () -> assertThat(handled.hasEnded(QUEUE, "order-50601", 50_600)).isTrue());
        assertReads("the removal of old records", 6000, () -> assertThat(handled.deleteOld()).isTrue());
    }

    private void assertReadsOfHistory() {
        HistoryTable history = new HistoryTable(this.database, "node", System::nanoTime);
        List<HistoryRow> rows = IntStream.range(0, 120)
            .mapToObj((i) -> new HistoryRow(QUEUE, "order-" + i, System.nanoTime(), Event.HANDLED, null, null))
            .toList();
        assertReads("the insert of transitions", 10, () -> history.insert(rows, false));
        assertReads("a repeated insert of transitions", 20, () -> history.insert(rows, true));
        assertReads("the transitions of a message", 50,
                () -> assertThat(history.read(QUEUE, "order-3", 10)).isNotEmpty());
        List<String> queues = Stream.concat(Stream.of("orders"), IntStream.range(0, 100).mapToObj((i) -> "q-" + i))
            .toList();
        assertReads("the queues of an id", 200,
                () -> assertThat(history.queuesOf("order-3", queues)).containsExactly("orders"));
        assertReads("the removal of an id", 100, () -> assertThat(history.delete(QUEUE, "order-4")).isPositive());
        assertReads("the removal of old transitions", 3000,
                () -> assertThat(history.deleteOlderThan(DELAY)).isEqualTo(HistoryTable.DELETE_LIMIT));
    }

    private static List<Long> some() {
        return LongStream.rangeClosed(50_001, 50_100).boxed().toList();
    }

    private static List<String> someIds() {
        return some().stream().map((revision) -> "order-" + revision).toList();
    }

    private void assertReads(String statement, long limit, Runnable call) {
        long read = this.reads.applyAsLong(call);
        if (read > limit) {
            this.exceeded.add("%s: %d of %d".formatted(statement, read, limit));
        }
    }

    /**
     * Returns the parts of statements in the sources that this database has not run and
     * that are not exempt.
     */
    private List<String> missing() {
        Map<?, ?> run = (Map<?, ?>) ReflectionTestUtils.getField(this.database, "statements");
        assertThat(run).isNotNull();
        List<String> known = Stream.concat(run.keySet().stream().map(String::valueOf), EXEMPT.keySet().stream())
            .map(JournalStatements::normalized)
            .toList();
        try (Stream<Path> sources = Files.list(SOURCES)) {
            List<String> parts = sources.flatMap((source) -> LITERAL.matcher(text(source)).results())
                .map(JournalStatements::literal)
                .filter(STATEMENT)
                .toList();
            assertThat(parts).hasSizeGreaterThan(40);
            return parts.stream().filter((part) -> known.stream().noneMatch((each) -> each.contains(part))).toList();
        }
        catch (IOException ex) {
            throw new IllegalStateException(ex);
        }
    }

    private static String text(Path source) {
        try {
            return Files.readString(source);
        }
        catch (IOException ex) {
            throw new IllegalStateException(ex);
        }
    }

    private static String literal(MatchResult literal) {
        return normalized((literal.group(1) != null) ? literal.group(1) : literal.group(2));
    }

    private static String normalized(String text) {
        return text.replaceAll("\\s+", " ").strip();
    }

}
