package io.delayqueue;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * What a call of {@link DelayQueueOperations#pause(String)} has done: the queue is
 * paused.
 *
 * @param queue the queue
 * @param wasPaused whether it was paused already; the end of that pause is replaced
 * @param until when the pause ends by itself, on the store's clock; {@code null} if it
 * lasts until somebody resumes the queue
 */
public record PauseResult(String queue, boolean wasPaused, @Nullable Instant until) {
}
