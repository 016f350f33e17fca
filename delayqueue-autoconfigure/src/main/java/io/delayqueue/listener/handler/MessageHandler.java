package io.delayqueue.listener.handler;

import java.util.Map;
import java.util.concurrent.CompletionStage;

import io.delayqueue.Delivery;
import io.delayqueue.store.ClaimedMessage;
import org.jspecify.annotations.Nullable;

/**
 * Handles messages; {@link HandlerMethodAdapter} is the one that calls a bean's method.
 */
@FunctionalInterface
public interface MessageHandler {

    /**
     * Reads the message for the handler, without calling it.
     * @return calls the handler
     * @throws Exception if the message is unfit for this handler, now and for ever
     */
    Call prepare(ClaimedMessage message, Delivery delivery) throws Exception;

    /** A handler with its arguments. */
    @FunctionalInterface
    interface Call {

        /**
         * Calls the handler.
         * @return what ends the handling, or {@code null} if it has ended
         * @throws Throwable what the handler threw
         */
        @Nullable CompletionStage<?> invoke() throws Throwable;

        /** The headers that the sender gave the message. */
        default Map<String, String> headers() {
            return Map.of();
        }

    }

}
