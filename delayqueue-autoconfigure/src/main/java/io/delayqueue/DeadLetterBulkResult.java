package io.delayqueue;

import org.jspecify.annotations.Nullable;

/**
 * What one step through the dead letters of a queue has done.
 *
 * @param examined how many dead letters were looked at
 * @param matched how many of them the filter means
 * @param changed how many of those were redriven or purged; of the others the message id
 * is in use, or there is no message, or somebody was faster
 * @param nextCursor where the next step begins; {@code null} if this was the last one
 */
public record DeadLetterBulkResult(long examined, long matched, long changed, @Nullable String nextCursor) {
}
