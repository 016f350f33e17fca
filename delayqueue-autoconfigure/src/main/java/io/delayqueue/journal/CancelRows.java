package io.delayqueue.journal;

import java.util.List;

import io.delayqueue.QueueName;
import org.jspecify.annotations.Nullable;

/**
 * Reads the accepted cancels of a queue, which are repeated before a restore: first their
 * keys, then the rows of these. Thread-safe.
 */
final class CancelRows {

    /**
     * Rows that a statement reads, so that it ends within the time limit of a database.
     */
    static final int SCAN = 10_000;

    private final JournalTable table;

    private final JournalDatabase database;

    CancelRows(JournalTable table) {
        this.table = table;
        this.database = table.database();
    }

    /**
     * Returns the keys of cancels, with their next checks in place of due times, in the
     * order of these. No index has the operation: the database reads all accepted rows,
     * at most {@link #SCAN} of them at once.
     * @param after the last row of the page before
     * @param limit the maximum number of cancels
     */
    Page page(QueueName queue, RestoreCursor after, int limit) {
        return this.database.inOwnTransaction(() -> {
            DueRevision end = end(after);
            List<DueRevision> keys = cancels(queue, after, end, limit);
            boolean further = end != null && keys.size() < limit;
            return new Page(keys, further ? end : keys.isEmpty() ? null : keys.get(keys.size() - 1));
        });
    }

    /** Returns the last row of a page; {@code null} if there are not as many. */
    private @Nullable DueRevision end(RestoreCursor after) {
        return this.database.replanned("""
                SELECT claimed_until, revision FROM delayqueue_journal
                WHERE namespace = :namespace AND accepted = TRUE AND claimed_until >= :check
                  AND (claimed_until > :check OR revision > :revision)
                ORDER BY claimed_until, revision LIMIT 1 OFFSET :others""")
            .param("check", after.position())
            .param("revision", after.revision())
            .param("others", SCAN - 1)
            .query((row, number) -> new DueRevision(row.getLong(1), row.getLong(2)))
            .optional()
            .orElse(null);
    }

    private List<DueRevision> cancels(QueueName queue, RestoreCursor after, @Nullable DueRevision end, int limit) {
        return this.database.replanned("""
                SELECT claimed_until, revision FROM delayqueue_journal
                WHERE namespace = :namespace AND accepted = TRUE AND claimed_until >= :check
                  AND (claimed_until > :check OR revision > :revision)
                  AND claimed_until <= :endCheck AND (claimed_until < :endCheck OR revision <= :endRevision)
                  AND operation = 'C' AND queue_name = :queue
                ORDER BY claimed_until, revision LIMIT :limit""")
            .param("check", after.position())
            .param("revision", after.revision())
            .param("endCheck", (end != null) ? end.due() : Long.MAX_VALUE)
            .param("endRevision", (end != null) ? end.revision() : Long.MAX_VALUE)
            .param("queue", queue.value())
            .param("limit", limit)
            .query((row, number) -> new DueRevision(row.getLong(1), row.getLong(2)))
            .list();
    }

    /**
     * Returns the rows of those cancels whose ids have no earlier accepted message. One
     * with such a message was applied before it: its transaction was committed earlier.
     */
    List<JournalRow> effective(List<DueRevision> keys) {
        return this.table.page(() -> this.database
            .replanned("SELECT " + JournalTable.ACCEPTED_COLUMNS + " FROM delayqueue_journal r "
                    + "WHERE revision IN (:revisions) AND accepted = TRUE AND operation = 'C' AND "
                    + JournalTable.COUNT_OF_SAME_ID + "NOT (" + JournalTable.PENDING
                    + ") AND o.operation = 'S' AND o.revision < r.revision) = 0", JournalTable.PAGE)
            .param("revisions", keys.stream().map(DueRevision::revision).toList()));
    }

    /**
     * Holds a part of the cancels.
     *
     * @param keys those of the cancels, maybe none
     * @param last the last row that was read; {@code null} if there are no more
     */
    record Page(List<DueRevision> keys, @Nullable DueRevision last) {
    }

}
