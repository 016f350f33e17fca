package io.delayqueue.journal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

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

    /** Returns the revisions of a queue's messages that have ended lately, sorted. */
    long[] revisions(QueueName queue) {
        List<long[]> batches = this.database.inOwnTransaction(() -> this.database.replanned("""
                SELECT revisions FROM delayqueue_ended
                WHERE namespace = :namespace AND recorded_at >= (SELECT $now) - :memory AND queue_name = :queue""")
            .param("memory", MEMORY.toMillis())
            .param("queue", queue.value())
            .query((row, number) -> RevisionCodec.decode(row.getBytes(1)))
            .list());
        long[] all = batches.stream().flatMapToLong(LongStream::of).toArray();
        Arrays.sort(all);
        return all;
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

}
