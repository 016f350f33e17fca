package io.delayqueue;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * Holds the result of {@link DelayQueueOperations#pause(String)}.
 *
 * @param queue the queue
 * @param alreadyPaused whether it was already paused; the end of that pause is replaced
 * @param until when the pause ends by itself, on the store's clock; {@code null} if it
 * lasts until the queue is resumed
 * @see DelayQueueOperations#pause(String)
 */
public record PauseResult(String queue, boolean alreadyPaused, @Nullable Instant until) {
}
