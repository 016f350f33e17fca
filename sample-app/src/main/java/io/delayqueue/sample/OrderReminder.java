package io.delayqueue.sample;

/** Message: remind the customer of an order that is not paid yet. */
record OrderReminder(String orderId) {
}
