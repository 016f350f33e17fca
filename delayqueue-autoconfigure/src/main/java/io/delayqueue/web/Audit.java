package io.delayqueue.web;

import java.util.function.Consumer;

import io.delayqueue.AuditedOperationEvent;
import io.delayqueue.QueueName;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells the application of every change. Thread-safe. */
final class Audit {

    private static final Logger logger = LoggerFactory.getLogger(Audit.class);

    private final Consumer<AuditedOperationEvent> events;

    /**
     * Makes one.
     * @param events tells the listeners
     */
    Audit(Consumer<AuditedOperationEvent> events) {
        this.events = events;
    }

    void tell(String who, String operation, QueueName queue, @Nullable String filter, long count) {
        AuditedOperationEvent event = new AuditedOperationEvent(who, operation, queue.value(), filter, count);
        try {
            this.events.accept(event);
        }
        catch (RuntimeException ex) {
            logger.warn("A listener of AuditedOperationEvent failed for '{}' of queue '{}', which was done", operation,
                    queue, ex);
        }
    }

}
