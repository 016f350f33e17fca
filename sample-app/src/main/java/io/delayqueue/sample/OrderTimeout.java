package io.delayqueue.sample;

/** Message: the time to pay an order is up. */
record OrderTimeout(String orderId) {
}
