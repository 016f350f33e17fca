package io.delayqueue.sample;

import java.util.List;

import io.delayqueue.QueueStatistics;

/**
 * All that the page shows, besides the events.
 *
 * @param orders the latest orders
 * @param queues the counts of each queue
 * @param deadLetters the latest dead letters
 * @param mailServerRepaired whether the mail server takes every receipt
 * @param ledger whether the messages are restored if Redis loses them
 */
record PageState(List<OrderView> orders, List<QueueStatistics> queues, List<DeadLetterView> deadLetters,
        boolean mailServerRepaired, boolean ledger) {
}
