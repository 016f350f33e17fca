package io.delayqueue.listener.handler;

import io.delayqueue.Delivery;

/**
 * Handles the messages of an endpoint, like a method with {@code @DelayedListener}: a
 * message is acknowledged when it returns, and retried when it throws.
 *
 * @param <T> the type of the payload
 */
@FunctionalInterface
public interface PayloadHandler<T> {

    /** Handles a message. */
    void handle(T payload, Delivery delivery) throws Exception;

}
