package io.delayqueue;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * The answer to a send.
 *
 * @param queue the queue sent to
 * @param id the id of the message, unique in its queue
 * @param dueAt when what the queue now holds under {@code id} is due, in whole
 * milliseconds of the store's clock; {@code null} if the outcome is
 * {@link SendOutcome#DEFERRED}. Of a message that is being handled it may be known only
 * that it was due before the answer; then it is the time of the answer
 * @param outcome what happened
 */
public record SendResult(String queue, String id, @Nullable Instant dueAt, SendOutcome outcome) {
}
