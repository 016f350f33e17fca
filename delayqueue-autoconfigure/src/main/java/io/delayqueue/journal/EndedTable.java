package io.delayqueue.journal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

import io.delayqueue.QueueName;

import org.springframework.jdbc.core.namedparam.MapSqlParameterSource;

/**
 * Records the revisions of messages that ended lately, in one row for each batch, so that
 * a restore can remove those that an older copy of the store brings back. Thread-safe.
 */
final class EndedTable {

    /**
     * How long an end is kept: as long as the snapshots of Redis' default settings may be
     * old.
     */
    private static final Duration MEMORY = Duration.ofHours(1);

    /** Maximum number of batches that are read at once, of up to 1,000 revisions each. */
    static final int PAGE = 500;

    /** Maximum number of rows that one transaction deletes. */
    private static final int BATCH_LIMIT = 1000;

    private final JournalDatabase database;

    EndedTable(JournalDatabase database) {
        this.database = database;
    }

    /** Adds the revisions of messages of a queue, in the present transaction. */
    void add(QueueName queue, List<Long> revisions) {
        if (!revisions.isEmpty()) {
            this.database.batch("""
                    INSERT INTO delayqueue_ended (namespace, queue_name, recorded_at, revisions)
                    VALUES (:namespace, :queue, $now, :revisions)""", new MapSqlParameterSource("queue", queue.value())
                .addValue("revisions", RevisionCodec.encode(revisions)));
        }
    }

    /**
     * Returns a page of the batches of a queue's messages that have ended lately, the
     * last ones first. Both limits are parameters: PostgreSQL would expect few rows for a
     * time that it computes, and sort all of them for each page.
     * @param behind the last batch of the page before
     */
    List<Batch> page(QueueName queue, Position behind) {
        return this.database.inOwnTransaction(() -> this.database.replanned("""
                SELECT recorded_at, batch, revisions FROM delayqueue_ended
                WHERE namespace = :namespace AND recorded_at >= :since AND recorded_at <= :time
                  AND (recorded_at < :time OR batch < :batch) AND queue_name = :queue
                ORDER BY recorded_at DESC, batch DESC LIMIT :limit""")
            .param("since", this.database.now() - MEMORY.toMillis())
            .param("time", behind.recordedAt())
            .param("batch", behind.batch())
            .param("queue", queue.value())
            .param("limit", PAGE)
            .query((row, number) -> new Batch(new Position(row.getLong(1), row.getLong(2)),
                    RevisionCodec.decode(row.getBytes(3))))
            .list());
    }

    /**
     * Returns the ids of those of some messages that have rows, and so have not ended.
     */
    Set<String> idsWithRows(Map<String, Long> revisions) {
        if (revisions.isEmpty()) {
            return Set.of();
        }
        return this.database
            .query(() -> this.database
                .replanned("SELECT message_id, revision FROM delayqueue_journal WHERE revision IN (:revisions)")
                .param("revisions", revisions.values())
                .query((row, number) -> Map.entry(row.getString(1), row.getLong(2)))
                .list())
            .stream()
            .filter((row) -> row.getValue().equals(revisions.get(row.getKey())))
            .map(Map.Entry::getKey)
            .collect(Collectors.toSet());
    }

    /**
     * Deletes old rows.
     * @return whether there may be more
     */
    boolean deleteOld() {
        List<Long> old = this.database.query(() -> this.database.replanned("""
                SELECT batch FROM delayqueue_ended
                WHERE namespace = :namespace AND recorded_at < (SELECT $now) - :memory
                ORDER BY recorded_at LIMIT :limit""")
            .param("memory", MEMORY.toMillis())
            .param("limit", BATCH_LIMIT)
            .query(Long.class)
            .list());
        if (!old.isEmpty()) {
            List<MapSqlParameterSource> keys = new ArrayList<>();
            old.stream().sorted().forEach((batch) -> keys.add(new MapSqlParameterSource("batch", batch)));
            this.database
                .inOwnTransaction(() -> this.database.batch("DELETE FROM delayqueue_ended WHERE batch = :batch",
                        keys.toArray(MapSqlParameterSource[]::new)));
        }
        return old.size() == BATCH_LIMIT;
    }

    /**
     * Points behind a batch, for which later ones come first.
     *
     * @param recordedAt when it was recorded, in milliseconds of the database's clock
     * @param batch its key
     */
    record Position(long recordedAt, long batch) {

        /** Points before the last batch. */
        static final Position BEGIN = new Position(Long.MAX_VALUE, Long.MAX_VALUE);

    }

    /**
     * Holds the revisions of one row.
     *
     * @param position points behind it
     * @param revisions those of messages that have ended
     */
    record Batch(Position position, long[] revisions) {
    }

}
