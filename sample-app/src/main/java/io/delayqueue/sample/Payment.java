package io.delayqueue.sample;

import io.delayqueue.CancelResult;

/**
 * The answer to a payment.
 *
 * @param order the order, paid
 * @param timeout what became of its timeout
 * @param reminder what became of its reminder
 */
record Payment(OrderView order, CancelResult timeout, CancelResult reminder) {
}
