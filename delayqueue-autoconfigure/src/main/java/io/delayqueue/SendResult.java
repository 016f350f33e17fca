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
 * {@link SendOutcome#DEFERRED}
 * @param outcome what happened
 */
public record SendResult(String queue, String id, @Nullable Instant dueAt, SendOutcome outcome) {
}
