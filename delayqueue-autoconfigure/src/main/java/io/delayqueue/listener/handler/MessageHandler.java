package io.delayqueue.listener.handler;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

import io.delayqueue.Delivery;
import io.delayqueue.store.ClaimedMessage;
import org.jspecify.annotations.Nullable;

/** Handles messages; {@link HandlerMethodAdapter} calls the method of a bean. */
@FunctionalInterface
public interface MessageHandler {

    /**
     * Reads the message for the handler, without calling it.
     * @return the call of the handler
     * @throws Exception if this handler can never process the message
     */
    Call prepare(ClaimedMessage message, Delivery delivery) throws Exception;

    /**
     * Returns how long no message should be claimed for this handler, because a system
     * that it needs is unavailable; zero if it can process messages. Must not block.
     */
    default Duration untilAvailable() {
        return Duration.ZERO;
    }

    /**
     * Returns how many messages one claim may request for this handler, at least one.
     * Must not block.
     */
    default int claimLimit() {
        return Integer.MAX_VALUE;
    }

    /**
     * Returns why this handler can process no message at the moment; {@code null} if it
     * can, as far as known. Must not block.
     */
    default @Nullable HandlerOutage outage() {
        return null;
    }

    /** Returns whether a call of this handler receives the messages of one claim. */
    default boolean isBatch() {
        return false;
    }

    /**
     * Combines prepared calls of a batch into the call that receives all their messages.
     * @param calls of this handler, in the order of their messages, at least one
     */
    default Call combine(List<Call> calls) throws Exception {
        throw new IllegalStateException("This handler receives one message at a time");
    }

    /** Calls the handler with its arguments. */
    @FunctionalInterface
    interface Call {

        /**
         * Calls the handler.
         * @param continuations runs parts of the handling that come later, such as those
         * of a coroutine, in the context of the messages
         * @return completes when the handling ends; {@code null} if it has ended. A
         * {@link CancellableStage} is cancelled when the handling must not continue.
         * @throws Throwable the exception of the handler. A
         * {@link HandlerUnavailableException}, thrown or as the end of the stage,
         * releases the message without counting an attempt.
         */
        @Nullable CompletionStage<?> invoke(Executor continuations) throws Throwable;

        /** Returns the headers that the sender set. */
        default Map<String, String> headers() {
            return Map.of();
        }

    }

}
