/**
 * A small order service. An order that is not paid in time is cancelled; until then it is
 * reminded of once; a paid one gets a receipt by mail, which may fail and is tried again.
 * <p>
 * Start at {@link io.delayqueue.sample.OrderService}, which sends and cancels messages,
 * then {@link io.delayqueue.sample.OrderListener},
 * {@link io.delayqueue.sample.ReminderListener} and
 * {@link io.delayqueue.sample.ReceiptListener}, which handle them, then
 * {@link io.delayqueue.sample.DeadLetterController}. All else is the shop around it:
 * {@link io.delayqueue.sample.EventLog} and {@link io.delayqueue.sample.EventStream} make
 * it visible, {@link io.delayqueue.sample.RedisLossController} and
 * {@link io.delayqueue.sample.TransactionalReminderListener} show what the profile
 * {@code ledger} is for, {@code embedded} starts a Redis for those who have none at hand,
 * and {@code operations} configures users with different rights.
 */
@NullMarked
package io.delayqueue.sample;

import org.jspecify.annotations.NullMarked;
