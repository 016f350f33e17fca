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
     * order of these. No index has the operation: the database reads the keys of all
     * accepted rows, at most {@link #SCAN} of them at once, and returns those of cancels.
     * @param after the last row of the page before
     * @param limit the maximum number of cancels
     */
    Page page(QueueName queue, RestoreCursor after, int limit) {
        List<Scanned> scanned = scan(queue, after, limit);
        List<DueRevision> keys = scanned.stream().filter(Scanned::cancel).map(Scanned::key).toList();
        if (keys.size() == limit) {
            return new Page(keys, keys.get(limit - 1));
        }
        return new Page(keys, scanned.isEmpty() ? null : scanned.get(scanned.size() - 1).key());
    }

    /**
     * Returns the first cancels among the next rows, and the last of these rows unless
     * there are as many cancels as the limit.
     */
    List<Scanned> scan(QueueName queue, RestoreCursor after, int limit) {
        return this.database.inOwnTransaction(() -> this.database.replanned("""
                SELECT claimed_until, revision, cancel
                FROM (
                  SELECT claimed_until, revision, cancel,
                    ROW_NUMBER() OVER (ORDER BY claimed_until DESC, revision DESC) AS from_end
                  FROM (
                    SELECT claimed_until, revision,
                      CASE WHEN operation = 'C' AND queue_name = :queue THEN 1 ELSE 0 END AS cancel
                    FROM delayqueue_journal
                    WHERE namespace = :namespace AND accepted = TRUE AND claimed_until >= :check
                      AND (claimed_until > :check OR revision > :revision)
                    ORDER BY claimed_until, revision LIMIT :scan) scanned) numbered
                WHERE cancel = 1 OR from_end = 1
                ORDER BY claimed_until, revision LIMIT :limit""")
            .param("queue", queue.value())
            .param("check", after.position())
            .param("revision", after.revision())
            .param("scan", SCAN)
            .param("limit", limit)
            .query((row, number) -> new Scanned(new DueRevision(row.getLong(1), row.getLong(2)), row.getInt(3) == 1))
            .list());
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

    /** Holds the key of an accepted row, and whether it is a cancel of the queue. */
    record Scanned(DueRevision key, boolean cancel) {
    }

}
