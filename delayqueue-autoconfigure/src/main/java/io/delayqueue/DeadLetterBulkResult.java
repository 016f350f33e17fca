package io.delayqueue;

import org.jspecify.annotations.Nullable;

/**
 * Holds the result of one step of a bulk operation on the dead letters of a queue.
 *
 * @param examined number of dead letters examined
 * @param matched number of those that match the filter
 * @param changed number of matches that were redriven or purged. The others were skipped
 * because the message id is in use, the content is missing, or another caller was faster
 * @param nextCursor the cursor of the next step; {@code null} if this was the last one
 * @see DeadLetterFilter
 */
public record DeadLetterBulkResult(long examined, long matched, long changed, @Nullable String nextCursor) {
}
