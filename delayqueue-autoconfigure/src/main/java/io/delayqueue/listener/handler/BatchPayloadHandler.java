package io.delayqueue.listener.handler;

import java.util.List;

import io.delayqueue.Delivery;

/**
 * Handles batches of messages of an endpoint, like a method with
 * {@code @DelayedListener(batch = true)}: the messages are acknowledged when it returns,
 * and retried when it throws.
 *
 * @param <T> the type of the payloads
 */
@FunctionalInterface
public interface BatchPayloadHandler<T> {

    /**
     * Handles a batch.
     * @param payloads at least one
     * @param deliveries those of the payloads, in the same order;
     * {@link Delivery#fail(Throwable)} fails single ones
     */
    void handle(List<T> payloads, List<Delivery> deliveries) throws Exception;

}
