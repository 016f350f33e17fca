package io.delayqueue.journal;

import org.jspecify.annotations.Nullable;

/**
 * Points behind the last row of a step of a restore.
 *
 * @param nextCheck the next check of that row
 * @param revision its revision
 */
record RestoreCursor(long nextCheck, long revision) {

    static final RestoreCursor START = new RestoreCursor(Long.MIN_VALUE, 0);

    /**
     * Reads a cursor from the caller.
     * @throws IllegalArgumentException if no step has returned it
     */
    static RestoreCursor parse(@Nullable String cursor) {
        if (cursor == null) {
            return START;
        }
        if (!cursor.matches("[0-9]{1,18}_[0-9]{1,18}")) {
            throw new IllegalArgumentException("Cursor is not valid: use the nextCursor of the step before");
        }
        int end = cursor.indexOf('_');
        return new RestoreCursor(Long.parseLong(cursor.substring(0, end)), Long.parseLong(cursor.substring(end + 1)));
    }

    static RestoreCursor behind(JournalRow row) {
        return new RestoreCursor(row.nextCheck(), row.revision());
    }

    @Override
    public String toString() {
        return this.nextCheck + "_" + this.revision;
    }

}
