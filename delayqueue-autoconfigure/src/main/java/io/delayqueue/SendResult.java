package io.delayqueue;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * Holds the result of a send.
 *
 * @param queue the queue sent to
 * @param id the id of the message, unique in its queue
 * @param dueAt when the message that the queue now holds under {@code id} is due, in
 * whole milliseconds of the store's clock; {@code null} if the outcome is
 * {@link SendOutcome#DEFERRED} or {@link SendOutcome#DEDUPLICATED}. If the message is
 * already being handled, because the client repeated the call after a lost connection or
 * because the queue held the id, the due time may no longer be known; then this is the
 * time of the answer, which is later than the due time
 * @param outcome the outcome
 * @see DelayQueueOperations
 */
public record SendResult(String queue, String id, @Nullable Instant dueAt, SendOutcome outcome) {
}
