package io.delayqueue.admin;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * Overrides the configuration of a listener for one queue on one node, until a time or
 * the end of the process.
 *
 * @param listener the id of the listener
 * @param queue the queue
 * @param concurrency maximum number of messages, or of batches, that it handles
 * concurrently; {@code null} for the configured one
 * @param paused whether it claims no message
 * @param by the name of the operator
 * @param at when it was requested, on the store's clock
 * @param until when it ends, on the store's clock
 * @see NodeOperations#override
 */
public record ListenerOverride(String listener, String queue, @Nullable Integer concurrency, boolean paused, String by,
        Instant at, Instant until) {
}
