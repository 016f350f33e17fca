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
 * {@link SendOutcome#DEFERRED}. If the message is already being handled when the store
 * answers, because the client repeated the call after a lost connection or because the
 * queue held the id, it may be known only that the message was due before the answer;
 * then this is the time of the answer, which may be later than the true due time
 * @param outcome what happened
 */
public record SendResult(String queue, String id, @Nullable Instant dueAt, SendOutcome outcome) {
}
