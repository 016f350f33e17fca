package io.delayqueue.sample;

import io.delayqueue.DelayedListener;
import io.delayqueue.Delivery;

import org.springframework.context.annotation.Profile;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * Reminds customers, and stores a row for each reminder. The row and the record that the
 * message was handled are one transaction: an order has one row also if the process is
 * killed meanwhile and the message is delivered again.
 */
@Component
@Profile("ledger")
class TransactionalReminderListener {

    private final Orders orders;

    private final JdbcClient jdbc;

    private final EventLog events;

    TransactionalReminderListener(Orders orders, JdbcClient jdbc, EventLog events) {
        this.orders = orders;
        this.jdbc = jdbc;
        this.events = events;
    }

    @DelayedListener(value = Queues.ORDER_REMINDER, transactional = true)
    void remind(OrderReminder reminder, Delivery delivery) {
        this.orders.find(reminder.orderId()).filter((order) -> order.state() == Order.State.OPEN).ifPresent((order) -> {
            this.jdbc.sql("INSERT INTO shop_reminder (order_id) VALUES (?)").param(order.id()).update();
            this.events.add(ShopEvent.Kind.REMINDED, order.id(), "please pay " + order.item(), delivery.lateness());
        });
    }

}
