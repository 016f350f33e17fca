package io.delayqueue.store;

import java.time.Instant;

/**
 * Holds why a message is dead-lettered.
 *
 * @param cause what went wrong, for operators; at most a few thousand characters
 * @param failed whether this counts as another handler failure
 * @param dueAt when the last attempt was due
 */
public record DeadLetterRequest(String cause, boolean failed, Instant dueAt) {
}
