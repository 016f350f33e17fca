package io.delayqueue.store;

import java.time.Instant;

/**
 * Why and how a message dies.
 *
 * @param cause what went wrong, for people to read; at most a few thousand characters
 * @param failed whether this counts as one more failure of the handler
 * @param dueAt when the last attempt was due
 */
public record DeadLetterReason(String cause, boolean failed, Instant dueAt) {
}
