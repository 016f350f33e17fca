package io.delayqueue.store;

import java.util.concurrent.Executor;
import java.util.function.Consumer;

import io.delayqueue.DeadLetterEvent;
import io.delayqueue.QueueName;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes dead letters: counts them, logs them, and publishes a
 * {@link DeadLetterEvent}. A failing event listener has no effect on the dead letter.
 * Thread-safe.
 */
public final class DeadLetterPublisher {

    private static final Logger logger = LoggerFactory.getLogger(DeadLetterPublisher.class);

    private static final int MAX_LINE = 500;

    private final MessageEventRecorderFactory counters;

    private final Consumer<DeadLetterEvent> events;

    private final Executor log;

    /**
     * Creates a publisher.
     * @param counters counts dead letters
     * @param events publishes an event, in the calling thread or another one
     * @param log writes log lines, in the calling thread or another one
     */
    public DeadLetterPublisher(MessageEventRecorderFactory counters, Consumer<DeadLetterEvent> events, Executor log) {
        this.counters = counters;
        this.events = events;
        this.log = log;
    }

    /**
     * Publishes a dead letter of a settlement.
     * @param failures failures before the settlement
     * @param note ends the log line
     */
    public void publish(Lease lease, DeadLetterRequest request, int failures, String note) {
        int counted = failures + (request.failed() ? 1 : 0);
        DeadLetterEvent event = new DeadLetterEvent(lease.queue().value(), lease.id(), lease.deadLetterId(), counted,
                Texts.line(request.cause(), MAX_LINE));
        log(() -> logger.error("Message '{}' of queue '{}' is dead-lettered after {}: {}{}", event.id(), event.queue(),
                Texts.count(counted, "failure"), event.reason(), note));
        countAndPublish(event);
    }

    /** Publishes a dead letter of a claim. Expired messages are logged together. */
    public void publish(DeadLetterEvent event) {
        if (!ExpiredMessagesLog.isExpired(event)) {
            log(() -> logger.error("Message '{}' of queue '{}' is dead-lettered after {}: {}", event.id(),
                    event.queue(), Texts.count(event.failures(), "failure"), event.reason()));
        }
        countAndPublish(event);
    }

    private void countAndPublish(DeadLetterEvent event) {
        this.counters.of(new QueueName(event.queue())).deadLettered();
        try {
            this.events.accept(event);
        }
        catch (RuntimeException ex) {
            log(() -> logger.warn(
                    "A listener of DeadLetterEvent failed for message '{}' of queue '{}', which remains a dead letter",
                    event.id(), event.queue(), ex));
        }
    }

    public void log(Runnable line) {
        this.log.execute(line);
    }

}
