package io.delayqueue.journal;

import java.sql.SQLException;
import java.sql.Types;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

import io.delayqueue.QueueName;
import io.delayqueue.store.Lease;
import io.delayqueue.store.LedgerChange;
import io.delayqueue.store.LedgerEntry;
import io.delayqueue.store.LedgerEntry.Kind;
import io.delayqueue.store.Partition;
import io.delayqueue.store.RecordedDeadLetter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.dao.NonTransientDataAccessResourceException;
import org.springframework.dao.TransientDataAccessException;
import org.springframework.dao.TransientDataAccessResourceException;
import org.springframework.jdbc.core.namedparam.MapSqlParameterSource;

/**
 * Records what becomes of the messages of ledgers: deletes the rows of those that have
 * ended, counts failures, and keeps dead letters. Thread-safe.
 */
final class LedgerTable {

    private static final Logger logger = LoggerFactory.getLogger(LedgerTable.class);

    /** A size that some databases refuse, in bytes. */
    private static final int LARGE = 512 * 1024;

    private static final String DEAD_LETTERS = "delayqueue_dead_letter";

    private final JournalDatabase database;

    private final EndedTable ended;

    LedgerTable(JournalDatabase database) {
        this.database = database;
        this.ended = new EndedTable(database);
    }

    /** Returns the queues that have dead letters. */
    List<QueueName> queues() {
        return this.database.queues(DEAD_LETTERS);
    }

    /**
     * Returns the next queue that has dead letters, in the order of the names.
     * @param after the name of the queue before; empty for the first one
     */
    Optional<QueueName> nextQueue(String after) {
        return this.database.queueAfter(DEAD_LETTERS, after);
    }

    /**
     * Records changes of a partition. A repetition changes nothing. A dead letter that
     * the database refuses, for its size, is not recorded, so that all others are.
     */
    void record(Partition partition, List<LedgerChange> changes) {
        try {
            recordAll(partition, changes);
        }
        catch (DataAccessException ex) {
            if (changes.stream().noneMatch((change) -> isRefused(change, ex))) {
                throw ex;
            }
            changes.forEach((change) -> recordAlone(partition, change));
        }
    }

    private void recordAlone(Partition partition, LedgerChange change) {
        try {
            recordAll(partition, List.of(change));
        }
        catch (DataAccessException ex) {
            if (!isRefused(change, ex)) {
                throw ex;
            }
            recordAll(partition, List.of(LedgerChange.of(change.entry())));
            logger.error(
                    "The database refuses dead letter '{}' of queue '{}' with {} bytes: it is in Redis alone, and "
                            + "not restored after a loss. {}",
                    change.entry().name(), partition.queue(), change.value().length, ex.getMessage());
        }
    }

    /**
     * Returns whether the database may have refused a dead letter for good. MariaDB
     * closes the connection if one is larger than its max_allowed_packet.
     */
    private static boolean isRefused(LedgerChange change, DataAccessException failure) {
        return isDeadLetter(change) && (failure instanceof DataIntegrityViolationException
                || change.value().length >= LARGE && !(failure instanceof TransientDataAccessException));
    }

    private static boolean isDeadLetter(LedgerChange change) {
        return change.entry().kind() == Kind.DEAD_LETTERED && change.value().length > 0;
    }

    private void recordAll(Partition partition, List<LedgerChange> changes) {
        List<LedgerChange> sorted = changes.stream()
            .sorted(Comparator.comparingLong((LedgerChange change) -> change.entry().revision())
                .thenComparing((change) -> change.entry().name()))
            .toList();
        this.database.inOwnTransaction(() -> {
            insertDeadLetters(partition, sorted);
            update("""
                    DELETE FROM delayqueue_dead_letter
                    WHERE namespace = :namespace AND queue_name = :queue AND dead_letter_id = :name""", partition,
                    sorted, Kind.DEAD_LETTER_REMOVED::equals);
            deleteMessages(partition, sorted);
            return sorted.size();
        });
        recordFailures(partition, sorted.stream().filter((change) -> change.entry().kind() == Kind.FAILED).toList());
    }

    /**
     * Records failures in a transaction of their own, as a transaction changes rows of
     * the journal in the order of their keys.
     */
    private void recordFailures(Partition partition, List<LedgerChange> failures) {
        if (!failures.isEmpty()) {
            this.database.inOwnTransaction(() -> {
                update("""
                        UPDATE delayqueue_journal SET failures = :failures, retry_millis = :due
                        WHERE revision = :revision AND namespace = :namespace AND queue_name = :queue
                          AND message_id = :id AND failures <= :failures""", partition, failures, (kind) -> true);
                return failures.size();
            });
        }
    }

    /**
     * Deletes the row of a request that the store has refused, and records its dead
     * letter.
     * @param keep whether the dead letter is to be restored after a loss
     */
    void recordRefused(JournalRow row, Row refused, boolean keep) {
        Partition partition = new Partition(row.request().queue(), refused.partition());
        LedgerEntry entry = new LedgerEntry(Kind.DEAD_LETTERED, row.revision(), refused.deadLetter().deadLetterId());
        LedgerChange change = new LedgerChange(entry, refused.deadLetter().content());
        this.database.inOwnTransaction(() -> {
            insertDeadLetters(partition, keep ? List.of(change) : List.of());
            update("DELETE FROM delayqueue_journal WHERE revision = :revision AND accepted = FALSE", partition,
                    List.of(change), (kind) -> true);
            return 1;
        });
    }

    private void insertDeadLetters(Partition partition, List<LedgerChange> changes) {
        List<LedgerChange> there = changes.stream().filter(LedgerTable::isDeadLetter).toList();
        update("""
                DELETE FROM delayqueue_dead_letter
                WHERE namespace = :namespace AND queue_name = :queue AND dead_letter_id = :name""", partition, there,
                (kind) -> true);
        try {
            update("""
                    INSERT INTO delayqueue_dead_letter (namespace, queue_name, dead_letter_id, message_id,
                      partition_number, content)
                    VALUES (:namespace, :queue, :name, :id, :partition, :content)""", partition, there, (kind) -> true);
        }
        catch (DataAccessException ex) {
            throw withoutContents(partition, ex);
        }
    }

    /**
     * Returns an exception of the same kind without message and cause: drivers quote the
     * values of a statement, here the contents of messages, which must not be logged.
     */
    private static DataAccessException withoutContents(Partition partition, DataAccessException failure) {
        String message = "The dead letters of partition %s cannot be inserted: %s".formatted(partition,
                sqlState(failure));
        if (failure instanceof DataIntegrityViolationException) {
            return new DataIntegrityViolationException(message);
        }
        return (failure instanceof TransientDataAccessException) ? new TransientDataAccessResourceException(message)
                : new NonTransientDataAccessResourceException(message);
    }

    private static String sqlState(DataAccessException failure) {
        Throwable cause = failure.getMostSpecificCause();
        String name = cause.getClass().getSimpleName();
        return (cause instanceof SQLException ex) ? "%s with SQL state %s".formatted(name, ex.getSQLState()) : name;
    }

    private void deleteMessages(Partition partition, List<LedgerChange> changes) {
        Predicate<Kind> ends = (kind) -> kind == Kind.ENDED || kind == Kind.DEAD_LETTERED;
        List<LedgerChange> ended = changes.stream().filter((change) -> ends.test(change.entry().kind())).toList();
        this.ended.add(partition.queue(), ended.stream().map((change) -> change.entry().revision()).toList());
        if (!ended.isEmpty()) {
            List<MapSqlParameterSource> rows = new ArrayList<>(replaced(partition, ended));
            ended.forEach((change) -> rows.add(parameters(partition, change)));
            rows.sort(Comparator.comparingLong((row) -> (Long) Objects.requireNonNull(row.getValue("revision"))));
            this.database.batch("""
                    DELETE FROM delayqueue_journal WHERE revision = :revision AND namespace = :namespace
                      AND queue_name = :queue AND message_id = :id""", rows.toArray(MapSqlParameterSource[]::new));
        }
    }

    /**
     * Returns the rows that messages have replaced that the store had lost. The relay
     * deletes them when it accepts the replacement, but may end before that.
     */
    private List<MapSqlParameterSource> replaced(Partition partition, List<LedgerChange> ended) {
        List<Long> revisions = ended.stream().map((change) -> change.entry().revision()).toList();
        Set<Long> replacing = new HashSet<>(this.database.replanned("""
                SELECT revision FROM delayqueue_journal
                WHERE revision IN (:revisions) AND accepted = FALSE AND on_duplicate = 'REPLACE'""")
            .param("revisions", revisions)
            .query(Long.class)
            .list());
        List<MapSqlParameterSource> replaced = new ArrayList<>();
        for (LedgerChange change : ended) {
            if (replacing.contains(change.entry().revision())) {
                this.database.replanned("""
                        SELECT revision FROM delayqueue_journal WHERE namespace = :namespace AND queue_name = :queue
                          AND message_id = :id AND revision < :revision AND accepted = TRUE""")
                    .params(parameters(partition, change).getValues())
                    .query(Long.class)
                    .list()
                    .forEach((revision) -> replaced.add(parameters(partition, change).addValue("revision", revision)));
            }
        }
        return replaced;
    }

    private void update(String sql, Partition partition, List<LedgerChange> changes, Predicate<Kind> kinds) {
        List<MapSqlParameterSource> rows = new ArrayList<>();
        for (LedgerChange change : changes) {
            if (kinds.test(change.entry().kind())) {
                rows.add(parameters(partition, change));
            }
        }
        if (!rows.isEmpty()) {
            this.database.batch(sql, rows.toArray(MapSqlParameterSource[]::new));
        }
    }

    private MapSqlParameterSource parameters(Partition partition, LedgerChange change) {
        LedgerEntry entry = change.entry();
        boolean failed = entry.kind() == Kind.FAILED;
        boolean message = entry.kind() == Kind.ENDED || failed;
        return new MapSqlParameterSource("queue", partition.queue().value()).addValue("partition", partition.index())
            .addValue("revision", entry.revision())
            .addValue("name", entry.name())
            .addValue("id", message ? entry.name() : Lease.idOf(entry.name()))
            .addValue("failures", failed ? change.failures() : 0)
            .addValue("due", failed ? change.dueMillis() : null, Types.BIGINT)
            .addValue("content", change.value());
    }

    /**
     * Returns a page of the dead letters of a queue, in the order of their ids.
     * @param after the id of the last one of the page before; empty for the first page
     */
    List<Row> deadLetters(QueueName queue, String after, int limit) {
        return this.database.query(() -> this.database.replanned("""
                SELECT dead_letter_id, partition_number, content FROM delayqueue_dead_letter
                WHERE namespace = :namespace AND queue_name = :queue AND dead_letter_id > :after
                ORDER BY dead_letter_id LIMIT :limit""")
            .param("queue", queue.value())
            .param("after", after)
            .param("limit", limit)
            .query((row, number) -> new Row(row.getInt(2), new RecordedDeadLetter(row.getString(1), row.getBytes(3))))
            .list());
    }

    /**
     * Holds a row of a dead letter.
     *
     * @param partition the index of its partition
     * @param deadLetter the dead letter
     */
    record Row(int partition, RecordedDeadLetter deadLetter) {
    }

}
