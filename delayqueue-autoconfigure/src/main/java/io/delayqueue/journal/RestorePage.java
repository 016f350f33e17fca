package io.delayqueue.journal;

import java.util.List;

import io.delayqueue.QueueName;
import org.jspecify.annotations.Nullable;

/**
 * Holds what one step of a restore offers to the store.
 *
 * @param rows accepted sends
 * @param queue the queue of the dead letters; {@code null} if there are none
 * @param deadLetters dead letters of one queue
 * @param readAt before they were read, in nanoseconds of the monotonic clock
 * @param next the begin of the next step; {@code null} after the last one
 */
record RestorePage(List<JournalRow> rows, @Nullable QueueName queue, List<LedgerTable.Row> deadLetters, long readAt,
        @Nullable RestoreCursor next) {

    int size() {
        return this.rows.size() + this.deadLetters.size();
    }

}
