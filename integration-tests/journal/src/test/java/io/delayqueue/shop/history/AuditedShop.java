package io.delayqueue.shop.history;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.delayqueue.DelayedListener;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;

/**
 * An application that handles the messages of a queue whose transitions are recorded, and
 * fails with some of them.
 */
@EnableAutoConfiguration
class AuditedShop {

    static final String ORDERS = "orders";

    final List<String> handled = new CopyOnWriteArrayList<>();

    @DelayedListener(ORDERS)
    void onOrder(String order) {
        if (order.startsWith("broken")) {
            throw new IllegalStateException("card 4711 is blocked");
        }
        this.handled.add(order);
    }

}
