package io.delayqueue.web.http;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

import io.delayqueue.BatchSendException;
import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.QueueName;
import io.delayqueue.admin.AuditedOperationEvent;
import io.delayqueue.admin.AuditedOperationEvent.Outcome;
import io.delayqueue.store.StoreFailures;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a change, and publishes its outcome as an audit event, whether it succeeded or
 * failed. Invalid requests change nothing and are not published. Thread-safe.
 */
public final class AuditPublisher {

    private static final Logger logger = LoggerFactory.getLogger(AuditPublisher.class);

    private final Consumer<AuditedOperationEvent> events;

    /**
     * Creates a publisher.
     * @param events publishes to the listeners
     */
    public AuditPublisher(Consumer<AuditedOperationEvent> events) {
        this.events = events;
    }

    /**
     * Makes a change and publishes its outcome.
     * @param changed returns how many were changed, from the result
     */
    public <T> T of(AuditedOperation change, Supplier<T> call, ToLongFunction<T> changed) {
        T answer;
        try {
            answer = call.get();
        }
        catch (RuntimeException ex) {
            failed(change, ex);
            throw ex;
        }
        publish(change, changed.applyAsLong(answer), Outcome.DONE);
        return answer;
    }

    /** Publishes the outcome of a change that is under way. */
    public <T> CompletableFuture<T> of(AuditedOperation change, CompletableFuture<T> call, ToLongFunction<T> changed) {
        return call.whenComplete((answer, failure) -> {
            if (failure == null) {
                publish(change, changed.applyAsLong(answer), Outcome.DONE);
            }
            else {
                failed(change, failure);
            }
        });
    }

    /** Publishes a change that failed. */
    public void failed(AuditedOperation change, Throwable failure) {
        Throwable cause = StoreFailures.unwrap(failure);
        if (cause instanceof ProblemException) {
            return;
        }
        if (cause instanceof BatchSendException batch && batch.unknown().isEmpty()) {
            publish(change, batch.stored().size(), Outcome.FAILED);
            return;
        }
        Effect effect = (cause instanceof DelayQueueException known) ? known.effect() : Effect.UNKNOWN;
        switch (effect) {
            case NONE -> publish(change, 0, Outcome.FAILED);
            case UNKNOWN -> publish(change, AuditedOperationEvent.UNKNOWN, Outcome.UNKNOWN);
            case STORED -> publish(change, 1, Outcome.DONE);
        }
    }

    public void publish(AuditedOperation change, long count, Outcome outcome) {
        QueueName queue = change.queue();
        AuditedOperationEvent event = new AuditedOperationEvent(change.principal(), change.operation(),
                (queue != null) ? queue.value() : null, change.filter(), count, outcome);
        try {
            this.events.accept(event);
        }
        catch (RuntimeException ex) {
            logger.warn(
                    "A listener of AuditedOperationEvent failed for '{}' of queue '{}', which changes nothing of it",
                    change.operation(), change.queue(), ex);
        }
    }

}
