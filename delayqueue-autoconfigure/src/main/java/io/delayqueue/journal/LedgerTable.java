package io.delayqueue.journal;

import java.sql.Types;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
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
import org.springframework.jdbc.core.namedparam.MapSqlParameterSource;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Records what becomes of the messages of ledgers: deletes the rows of those that have
 * ended, counts failures, and keeps dead letters. Thread-safe.
 */
final class LedgerTable {

    private static final Logger logger = LoggerFactory.getLogger(LedgerTable.class);

    private final NamedParameterJdbcTemplate jdbc;

    private final TransactionTemplate transaction;

    private final String namespace;

    LedgerTable(JournalTable table) {
        this.jdbc = new NamedParameterJdbcTemplate(table.dataSource());
        this.transaction = table.transaction();
        this.namespace = table.namespace();
    }

    /** Returns the queues that have dead letters. */
    List<QueueName> queues() {
        return read("SELECT DISTINCT queue_name FROM delayqueue_dead_letter WHERE namespace = :namespace",
                new MapSqlParameterSource(), QueueName::new);
    }

    private <T> List<T> read(String sql, MapSqlParameterSource parameters, Function<String, T> map) {
        return Objects.requireNonNull(this.transaction.execute((status) -> this.jdbc.query(sql,
                parameters.addValue("namespace", this.namespace), (row, number) -> map.apply(row.getString(1)))));
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
            if (changes.stream().noneMatch(LedgerTable::isDeadLetter)) {
                throw ex;
            }
            queues(); // throws if the database is away
            changes.forEach((change) -> recordAlone(partition, change));
        }
    }

    private void recordAlone(Partition partition, LedgerChange change) {
        try {
            recordAll(partition, List.of(change));
        }
        catch (DataAccessException ex) {
            if (!isDeadLetter(change)) {
                throw ex;
            }
            recordAll(partition, List.of(LedgerChange.of(change.entry())));
            logger.error(
                    "The database refuses dead letter '{}' of queue '{}' with {} bytes: it is in Redis alone, and "
                            + "not restored after a loss",
                    change.entry().name(), partition.queue(), change.value().length, ex);
        }
    }

    private static boolean isDeadLetter(LedgerChange change) {
        return change.entry().kind() == Kind.DEAD_LETTERED && change.value().length > 0;
    }

    private void recordAll(Partition partition, List<LedgerChange> changes) {
        List<LedgerChange> sorted = changes.stream()
            .sorted(Comparator.comparingLong((LedgerChange change) -> change.entry().revision())
                .thenComparing((change) -> change.entry().name()))
            .toList();
        this.transaction.executeWithoutResult((status) -> {
            insertDeadLetters(partition, sorted);
            deleteMessages(partition, sorted);
            update("""
                    UPDATE delayqueue_journal SET failures = :failures, ttl_millis = CASE
                        WHEN ttl_millis > :due - due_millis THEN ttl_millis - (:due - due_millis)
                        WHEN ttl_millis IS NOT NULL AND :due > due_millis THEN 1
                        ELSE ttl_millis END,
                      due_millis = COALESCE(:due, due_millis)
                    WHERE revision = :revision AND namespace = :namespace AND queue_name = :queue
                      AND message_id = :id AND failures < :failures""", partition, sorted, Kind.FAILED::equals);
            update("""
                    DELETE FROM delayqueue_dead_letter
                    WHERE namespace = :namespace AND queue_name = :queue AND dead_letter_id = :name""", partition,
                    sorted, Kind.DEAD_LETTER_REMOVED::equals);
        });
    }

    private void insertDeadLetters(Partition partition, List<LedgerChange> changes) {
        List<LedgerChange> there = changes.stream().filter(LedgerTable::isDeadLetter).toList();
        update("""
                DELETE FROM delayqueue_dead_letter
                WHERE namespace = :namespace AND queue_name = :queue AND dead_letter_id = :name""", partition, there,
                (kind) -> true);
        update("""
                INSERT INTO delayqueue_dead_letter (namespace, queue_name, dead_letter_id, message_id,
                  partition_number, content)
                VALUES (:namespace, :queue, :name, :id, :partition, :content)""", partition, there, (kind) -> true);
    }

    private void deleteMessages(Partition partition, List<LedgerChange> changes) {
        Predicate<Kind> ends = (kind) -> kind == Kind.ENDED || kind == Kind.DEAD_LETTERED;
        deleteReplaced(partition, changes.stream().filter((change) -> ends.test(change.entry().kind())).toList());
        update("""
                DELETE FROM delayqueue_journal WHERE revision = :revision AND namespace = :namespace
                  AND queue_name = :queue AND message_id = :id""", partition, changes, ends);
        boolean handled = Boolean.TRUE
            .equals(this.jdbc.query("SELECT MIN(revision) FROM delayqueue_handled", (result) -> {
                result.next();
                return result.getObject(1) != null;
            }));
        if (handled) {
            update("DELETE FROM delayqueue_handled WHERE revision = :revision", partition, changes, ends);
        }
    }

    /**
     * Deletes the rows that messages have replaced that the store had lost. The relay
     * does it when it accepts the replacement, but may end before that.
     */
    private void deleteReplaced(Partition partition, List<LedgerChange> ended) {
        if (ended.isEmpty()) {
            return;
        }
        List<Long> revisions = ended.stream().map((change) -> change.entry().revision()).toList();
        Set<Long> replacing = new HashSet<>(this.jdbc.queryForList("""
                SELECT revision FROM delayqueue_journal
                WHERE revision IN (:revisions) AND accepted = FALSE AND on_duplicate = 'REPLACE'""",
                Map.of("revisions", revisions), Long.class));
        update("""
                DELETE FROM delayqueue_journal WHERE namespace = :namespace AND queue_name = :queue
                  AND message_id = :id AND revision < :revision AND accepted = TRUE""", partition,
                ended.stream().filter((change) -> replacing.contains(change.entry().revision())).toList(),
                (kind) -> true);
    }

    private void update(String sql, Partition partition, List<LedgerChange> changes, Predicate<Kind> kinds) {
        List<MapSqlParameterSource> rows = new ArrayList<>();
        for (LedgerChange change : changes) {
            if (kinds.test(change.entry().kind())) {
                rows.add(parameters(partition, change));
            }
        }
        if (!rows.isEmpty()) {
            this.jdbc.batchUpdate(sql, rows.toArray(MapSqlParameterSource[]::new));
        }
    }

    private MapSqlParameterSource parameters(Partition partition, LedgerChange change) {
        LedgerEntry entry = change.entry();
        boolean failed = entry.kind() == Kind.FAILED;
        boolean message = entry.kind() == Kind.ENDED || failed;
        return new MapSqlParameterSource("namespace", this.namespace).addValue("queue", partition.queue().value())
            .addValue("partition", partition.index())
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
        MapSqlParameterSource parameters = new MapSqlParameterSource("namespace", this.namespace)
            .addValue("queue", queue.value())
            .addValue("after", after)
            .addValue("limit", limit);
        return Objects.requireNonNull(this.transaction.execute((status) -> this.jdbc.query("""
                SELECT dead_letter_id, partition_number, content FROM delayqueue_dead_letter
                WHERE namespace = :namespace AND queue_name = :queue AND dead_letter_id > :after
                ORDER BY dead_letter_id LIMIT :limit""", parameters,
                (row, number) -> new Row(row.getInt(2), new RecordedDeadLetter(row.getString(1), row.getBytes(3))))));
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
