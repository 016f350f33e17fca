package io.delayqueue.sample;

import io.delayqueue.DelayedListener;
import io.delayqueue.Delivery;

import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

/**
 * Reminds customers of orders that are still open. In the profile {@code ledger} there is
 * a {@link TransactionalReminderListener} instead.
 */
@Component
@Profile("!ledger")
class ReminderListener {

    private final Orders orders;

    private final EventLog events;

    ReminderListener(Orders orders, EventLog events) {
        this.orders = orders;
        this.events = events;
    }

    @DelayedListener(Queues.ORDER_REMINDER)
    void remind(OrderReminder reminder, Delivery delivery) {
        this.orders.find(reminder.orderId())
            .filter((order) -> order.state() == Order.State.OPEN)
            .ifPresent((order) -> this.events.add(ShopEvent.Kind.REMINDED, order.id(), "please pay " + order.item(),
                    delivery.lateness()));
    }

}
