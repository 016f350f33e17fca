package io.delayqueue.shop;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.delayqueue.DelayedListener;
import io.delayqueue.JournalRequestRefusedEvent;
import io.delayqueue.LedgerRestoredEvent;

import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.event.EventListener;

/** An application that handles the messages of two queues, of which one has a journal. */
@SpringBootApplication
public class Shop {

    public static final String ORDERS = "orders";

    public final List<String> handled = new CopyOnWriteArrayList<>();

    final List<JournalRequestRefusedEvent> refused = new CopyOnWriteArrayList<>();

    final List<LedgerRestoredEvent> restored = new CopyOnWriteArrayList<>();

    @DelayedListener(ORDERS)
    void onOrder(String order) {
        this.handled.add(order);
    }

    @EventListener
    void onRestored(LedgerRestoredEvent event) {
        this.restored.add(event);
    }

    @EventListener
    void onRefused(JournalRequestRefusedEvent event) {
        this.refused.add(event);
    }

}
