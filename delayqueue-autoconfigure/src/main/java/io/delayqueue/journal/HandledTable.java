package io.delayqueue.journal;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;

import io.delayqueue.QueueName;
import io.delayqueue.journal.JournalDatabase.StatementSettings;

import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.namedparam.MapSqlParameterSource;

/**
 * Holds records of the messages whose handlers' transactions have committed. A record is
 * kept for a while after its message has ended, as the store may bring the message back.
 * Thread-safe.
 */
final class HandledTable {

    /**
     * How long a record is kept at least: as long as the snapshots of Redis' default
     * settings may be old.
     */
    static final Duration MEMORY = Duration.ofHours(1);

    /** Maximum number of records that one transaction deletes. */
    static final int BATCH_LIMIT = 1000;

    /** How long a statement waits for another transaction of the message, in seconds. */
    private static final int LOCK_LIMIT = 2;

    private final JournalDatabase database;

    HandledTable(JournalDatabase database) {
        this.database = database;
    }

    /**
     * Inserts the record of a message that has a row, in the transaction of the calling
     * thread. Waits at most {@link #LOCK_LIMIT} for another transaction that has inserted
     * it.
     * @return whether the message has a row and had no record; otherwise the transaction
     * must be rolled back
     */
    boolean insert(QueueName queue, String id, long revision) {
        try {
            return this.database.replanned("""
                    INSERT INTO delayqueue_handled (revision, namespace, queue_name, message_id, handled_at)
                    SELECT revision, namespace, queue_name, message_id, $now FROM delayqueue_journal
                    WHERE revision = :revision AND namespace = :namespace AND queue_name = :queue
                      AND message_id = :id""", new StatementSettings(-1, LOCK_LIMIT))
                .param("revision", revision)
                .param("queue", queue.value())
                .param("id", id)
                .update() > 0;
        }
        catch (DuplicateKeyException ex) {
            return false;
        }
    }

    /** Returns whether the record of a message is committed. */
    boolean contains(QueueName queue, String id, long revision) {
        return exists("""
                SELECT COUNT(*) FROM delayqueue_handled
                WHERE revision = :revision AND namespace = :namespace AND queue_name = :queue AND message_id = :id""",
                queue, id, revision);
    }

    /**
     * Returns whether the journal says that a message without a row has ended: it was
     * handled, or an accepted later request has cancelled or replaced it.
     */
    boolean hasEnded(QueueName queue, String id, long revision) {
        return contains(queue, id, revision) || exists("""
                SELECT COUNT(*) FROM delayqueue_journal
                WHERE namespace = :namespace AND queue_name = :queue AND message_id = :id AND revision > :revision
                  AND accepted = TRUE AND (operation = 'C' OR on_duplicate = 'REPLACE')""", queue, id, revision);
    }

    private boolean exists(String count, QueueName queue, String id, long revision) {
        return this.database.query(() -> this.database.replanned(count)
            .param("revision", revision)
            .param("queue", queue.value())
            .param("id", id)
            .query(Long.class)
            .single()) > 0;
    }

    /**
     * Deletes old records whose messages have no rows any more. Counts the rows of each
     * record, as a database could turn {@code NOT EXISTS} into a join of both tables.
     * @return whether there may be more
     */
    boolean deleteOld() {
        List<Key> old = this.database.inOwnTransaction(() -> this.database.replanned("""
                SELECT revision, queue_name, message_id FROM delayqueue_handled h
                WHERE namespace = :namespace AND handled_at < (SELECT $now) - :memory
                  AND (SELECT COUNT(*) FROM delayqueue_journal r WHERE r.revision = h.revision) = 0
                ORDER BY handled_at LIMIT :limit""")
            .param("memory", MEMORY.toMillis())
            .param("limit", BATCH_LIMIT)
            .query((row, number) -> new Key(row.getLong(1), row.getString(2), row.getString(3)))
            .list());
        if (!old.isEmpty()) {
            // In the order of keys, so that two nodes do not deadlock.
            MapSqlParameterSource[] keys = old.stream()
                .sorted(Comparator.comparingLong(Key::revision))
                .map(this::parameters)
                .toArray(MapSqlParameterSource[]::new);
            this.database.inOwnTransaction(() -> this.database.batch("""
                    DELETE FROM delayqueue_handled WHERE revision = :revision AND namespace = :namespace
                      AND queue_name = :queue AND message_id = :id""", keys));
        }
        return old.size() == BATCH_LIMIT;
    }

    private MapSqlParameterSource parameters(Key key) {
        return new MapSqlParameterSource("revision", key.revision()).addValue("queue", key.queue())
            .addValue("id", key.id());
    }

    /** Holds the key of a record, apart from the namespace. */
    private record Key(long revision, String queue, String id) {
    }

}
