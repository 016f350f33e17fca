package io.delayqueue.sample;

import io.delayqueue.DeadLetterEvent;

import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;

/** Shows dead letters among the events. */
@Component
class DeadLetterListener {

    private final EventLog events;

    DeadLetterListener(EventLog events) {
        this.events = events;
    }

    @EventListener
    void died(DeadLetterEvent event) {
        this.events.add(ShopEvent.Kind.DEAD, event.id(),
                "dead letter in queue '%s' after %d failures".formatted(event.queue(), event.failures()));
    }

}
