package io.delayqueue.listener.handler;

import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

import org.jspecify.annotations.Nullable;

/**
 * Calls the application's code for the messages of one call, in two steps, so that a
 * failure of the first does not count as a failure of the handler. Thread-safe if that
 * code is.
 */
interface HandlerInvocation {

    /**
     * Checks one message of a batch, whose failure concerns no other message.
     * @throws Exception if the handler can never process it
     */
    default void check(DeliveryMessage message) throws Exception {
    }

    /**
     * Resolves the arguments.
     * @param messages one, unless it is a batch
     */
    Bound bind(List<DeliveryMessage> messages) throws Exception;

    /** Resolves the arguments of a call with one message. */
    default Bound bind(DeliveryMessage message) throws Exception {
        return bind(List.of(message));
    }

    /** Returns whether the handling has ended when a call has returned. */
    default boolean isImmediate() {
        BeanMethod method = method();
        return method == null || method.result().isImmediate();
    }

    /** Returns the method; {@code null} for a function. */
    @Nullable BeanMethod method();

    /** Returns the name of the code, for the log. */
    String name();

    /** Holds the arguments of a call. */
    @FunctionalInterface
    interface Bound {

        /**
         * Calls the code.
         * @param continuations runs a coroutine whenever it resumes
         * @return completes when the handling ends; {@code null} if it has ended
         */
        @Nullable CompletionStage<?> call(Executor continuations) throws Throwable;

    }

}
