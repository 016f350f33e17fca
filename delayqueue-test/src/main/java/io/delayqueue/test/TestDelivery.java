package io.delayqueue.test;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * Describes one delivery that has ended.
 *
 * @param queue the queue of the message
 * @param id the id of the message; {@code null} if it expired before a listener had it,
 * and was dropped
 * @param attempt the attempt, from 1; 0 if the message expired or became a dead letter
 * before a listener had it
 * @param at the virtual time of the end
 * @param outcome how it ended
 * @param cause why the message is retried, is a dead letter or has expired, maybe with a
 * stack trace; {@code null} for other outcomes
 * @see DelayQueueTester
 */
public record TestDelivery(String queue, @Nullable String id, int attempt, Instant at, DeliveryOutcome outcome,
        @Nullable String cause) {
}
