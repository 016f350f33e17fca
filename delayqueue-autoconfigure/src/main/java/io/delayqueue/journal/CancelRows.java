package io.delayqueue.journal;

import java.util.List;

import io.delayqueue.QueueName;

/**
 * Reads the accepted cancels of a queue, which are repeated before a restore: first their
 * keys, then the rows of these. Thread-safe.
 */
final class CancelRows {

    private final JournalTable table;

    private final JournalDatabase database;

    CancelRows(JournalTable table) {
        this.table = table;
        this.database = table.database();
    }

    /**
     * Returns the keys of cancels, with their next checks in place of due times, in the
     * order of these. No index has the operation: the database reads the keys of all
     * accepted rows, which may take long.
     * @param after the last one of the page before
     */
    List<DueRevision> keys(QueueName queue, RestoreCursor after, int limit) {
        return this.database.inOwnTransaction(() -> this.database.replanned("""
                SELECT claimed_until, revision FROM delayqueue_journal
                WHERE namespace = :namespace AND accepted = TRUE AND claimed_until >= :check
                  AND (claimed_until > :check OR revision > :revision) AND operation = 'C' AND queue_name = :queue
                ORDER BY claimed_until, revision LIMIT :limit""")
            .param("queue", queue.value())
            .param("check", after.position())
            .param("revision", after.revision())
            .param("limit", limit)
            .query((row, number) -> new DueRevision(row.getLong(1), row.getLong(2)))
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

}
