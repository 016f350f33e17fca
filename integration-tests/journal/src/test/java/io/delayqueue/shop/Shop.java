package io.delayqueue.shop;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.delayqueue.DelayedListener;
import io.delayqueue.JournalRequestRefusedEvent;

import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.event.EventListener;

/** An application that handles the messages of two queues, of which one has a journal. */
@SpringBootApplication
public class Shop {

    public static final String ORDERS = "orders";

    public final List<String> handled = new CopyOnWriteArrayList<>();

    final List<JournalRequestRefusedEvent> refused = new CopyOnWriteArrayList<>();

    @DelayedListener(ORDERS)
    void onOrder(String order) {
        this.handled.add(order);
    }

    @EventListener
    void onRefused(JournalRequestRefusedEvent event) {
        this.refused.add(event);
    }

}
