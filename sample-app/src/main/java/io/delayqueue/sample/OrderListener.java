package io.delayqueue.sample;

import io.delayqueue.DelayedListener;
import io.delayqueue.Delivery;

import org.springframework.stereotype.Component;

/**
 * Cancels orders that are not paid in time. A message is handled at least once and its
 * order may be paid by now, so the handler checks the order first. An order that is not
 * known was placed before a restart.
 */
@Component
class OrderListener {

    private final Orders orders;

    private final EventLog events;

    OrderListener(Orders orders, EventLog events) {
        this.orders = orders;
        this.events = events;
    }

    @DelayedListener(Queues.ORDER_TIMEOUT)
    void cancelUnpaid(OrderTimeout timeout, Delivery delivery) {
        this.orders.find(timeout.orderId())
            .filter((order) -> this.orders.close(order.id(), Order.State.CANCELLED))
            .ifPresent((order) -> this.events.add(ShopEvent.Kind.CANCELLED, order.id(), "not paid in time",
                    delivery.lateness()));
    }

}
