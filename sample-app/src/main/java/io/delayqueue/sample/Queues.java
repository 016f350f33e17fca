package io.delayqueue.sample;

import java.util.List;

/** The names of the queues. */
final class Queues {

    static final String ORDER_REMINDER = "order-reminder";

    static final String ORDER_TIMEOUT = "order-timeout";

    static final String RECEIPT = "receipt";

    static final List<String> ALL = List.of(ORDER_REMINDER, ORDER_TIMEOUT, RECEIPT);

    private Queues() {
    }

}
