package io.delayqueue.web;

import io.delayqueue.AuditedOperationEvent;
import io.delayqueue.QueueName;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.ApplicationEventPublisher;

/** Tells the application of every change. Thread-safe. */
final class Audit {

    private static final Logger logger = LoggerFactory.getLogger(Audit.class);

    private final ApplicationEventPublisher events;

    Audit(ApplicationEventPublisher events) {
        this.events = events;
    }

    void tell(String who, String operation, QueueName queue, @Nullable String filter, long count) {
        AuditedOperationEvent event = new AuditedOperationEvent(who, operation, queue.value(), filter, count);
        try {
            this.events.publishEvent(event);
        }
        catch (RuntimeException ex) {
            logger.warn("A listener of AuditedOperationEvent failed for '{}' of queue '{}', which was done", operation,
                    queue, ex);
        }
    }

}
