package io.delayqueue.listener.handler;

import java.lang.reflect.Method;
import java.util.List;

import io.delayqueue.QueueName;
import io.delayqueue.store.ClaimedMessage;
import org.jspecify.annotations.Nullable;

/**
 * Runs handlers in transactions that also record that their message was handled, so that
 * each message has the effects of one handler call. Thread-safe.
 */
public interface HandlerTransactions {

    /**
     * Checks whether a listener can have transactions, when it is registered.
     * @param queues its queues
     * @param method its method; {@code null} if it calls a function
     * @throws IllegalArgumentException if it cannot, with the reason
     */
    void require(List<QueueName> queues, @Nullable Method method);

    /**
     * Runs a handler in a transaction, unless an earlier transaction for this message has
     * committed.
     * @param handler the call of the handler; an exception rolls the transaction back
     * @throws HandlerUnavailableException if the message is to wait, and no attempt
     * counts
     * @throws HandlerOutcomeUnknownException if the connection of the transaction was
     * lost
     * @throws Throwable the exception of the handler, or that of the commit
     */
    void execute(ClaimedMessage message, Handler handler) throws Throwable;

    /** Calls a handler. */
    @FunctionalInterface
    interface Handler {

        /**
         * Calls the handler.
         * @return whether the transaction is to commit
         * @throws Throwable the exception of the handler
         */
        boolean call() throws Throwable;

    }

}
