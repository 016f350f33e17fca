package io.delayqueue.journal;

import io.delayqueue.QueueName;
import io.delayqueue.admin.HistoryEntry.Event;
import org.jspecify.annotations.Nullable;

/**
 * Holds a transition that is to be written.
 *
 * @param queue the queue
 * @param id the id of the message
 * @param nanos when it happened, on the monotonic clock
 * @param event the transition
 * @param attempt the number of the attempt, of a claim; {@code null} otherwise
 * @param detail its details in one line; {@code null} for none
 */
record HistoryRow(QueueName queue, String id, long nanos, Event event, @Nullable Integer attempt,
        @Nullable String detail) {
}
