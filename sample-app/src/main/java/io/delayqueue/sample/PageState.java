package io.delayqueue.sample;

import java.util.List;

import io.delayqueue.QueueStatistics;

/** All that the page shows, besides the events. */
record PageState(List<OrderView> orders, List<QueueStatistics> queues, List<DeadLetterView> deadLetters,
        boolean mailServerRepaired) {
}
