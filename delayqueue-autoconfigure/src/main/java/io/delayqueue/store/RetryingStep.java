package io.delayqueue.store;

import org.jspecify.annotations.Nullable;

/**
 * Holds one step of a count of the retried messages of a partition.
 *
 * @param count messages that have failed
 * @param examined messages that the step examined, about
 * @param nextCursor where the next step begins; {@code null} if this was the last one
 */
public record RetryingStep(long count, long examined, @Nullable String nextCursor) {
}
