package io.delayqueue.journal;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;

import org.jspecify.annotations.Nullable;

/**
 * Searches the keys of the accepted sends that are due first, until the horizon of a
 * restore. No index has the due times: each step reads a page of the rows whose next
 * checks are soon, as those of overdue messages are, so that its statement ends within
 * the time limit of a database. Not thread-safe.
 */
final class DueSoonKeys {

    /** Rows of a step. */
    static final int SCAN = 10_000;

    /** The next check of any overdue message is sooner. */
    private static final Duration SOON_CHECKS = LedgerSweep.MAX_INTERVAL.plusHours(1);

    private static final Comparator<DueRevision> ORDER = Comparator.comparingLong(DueRevision::due)
        .thenComparingLong(DueRevision::revision);

    private final JournalDatabase database;

    private final RestoreSelection selection;

    private final RestoreCursor after;

    private final int limit;

    /**
     * The first keys of the rows that were read. A row may be read twice, as its next
     * check may change between two steps.
     */
    private final TreeSet<DueRevision> keys = new TreeSet<>(ORDER);

    /** The next check of the last row that was read. */
    private long check;

    /** Its revision. */
    private long revision;

    /**
     * Creates a search before its first step.
     * @param after the last key of the search before
     * @param limit the maximum number of keys
     */
    DueSoonKeys(JournalTable table, RestoreSelection selection, RestoreCursor after, int limit) {
        this.database = table.database();
        this.selection = selection;
        this.after = after;
        this.limit = limit;
    }

    /**
     * Reads the next page of rows.
     * @return whether there may be more
     */
    boolean step() {
        List<Row> rows = page();
        for (Row row : rows) {
            if (!row.soon()) {
                return false;
            }
            Long due = row.due();
            if (due != null) {
                add(new DueRevision(due, row.revision()));
            }
            this.check = row.check();
            this.revision = row.revision();
        }
        return rows.size() == SCAN;
    }

    private void add(DueRevision key) {
        boolean full = this.keys.size() == this.limit;
        if (!full || ORDER.compare(key, this.keys.last()) < 0) {
            this.keys.add(key);
        }
        if (this.keys.size() > this.limit) {
            this.keys.pollLast();
        }
    }

    /** Returns the keys in the order of the due times, after the last step. */
    List<DueRevision> keys() {
        return List.copyOf(this.keys);
    }

    /**
     * Returns a page of rows in the order of their next checks. The statement has no
     * upper limit of these: PostgreSQL would expect few rows, and sort all of them.
     */
    private List<Row> page() {
        return this.database.inOwnTransaction(() -> this.database
            .replanned(
                    """
                            SELECT claimed_until, revision, $now AS read_at, CASE WHEN operation = 'S' AND due_millis <= :horizon
                              AND (due_millis > :position OR due_millis = :position AND revision > :after)"""
                            + this.selection.condition() + " THEN due_millis END AS due " + """
                                    FROM delayqueue_journal
                                    WHERE accepted = TRUE AND namespace = :namespace AND claimed_until >= :check
                                      AND (claimed_until > :check OR revision > :revision)
                                    ORDER BY claimed_until, revision LIMIT :limit""")
            .params(this.selection.parameters())
            .param("horizon", this.after.horizon())
            .param("position", this.after.position())
            .param("after", this.after.revision())
            .param("check", this.check)
            .param("revision", this.revision)
            .param("limit", SCAN)
            .query((row, number) -> new Row(row.getLong(1), row.getLong(2),
                    row.getLong(1) < row.getLong(3) + SOON_CHECKS.toMillis(), row.getObject(4, Long.class)))
            .list());
    }

    /**
     * Holds the key of an accepted row.
     *
     * @param check its next check, in milliseconds of the database's clock
     * @param revision its revision
     * @param soon whether the next check is as soon as that of an overdue message
     * @param due the due time of a message that is selected; {@code null} for others
     */
    private record Row(long check, long revision, boolean soon, @Nullable Long due) {
    }

}
