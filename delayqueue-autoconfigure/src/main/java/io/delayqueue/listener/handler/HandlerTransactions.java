package io.delayqueue.listener.handler;

import java.lang.reflect.Method;
import java.util.List;

import io.delayqueue.QueueName;
import io.delayqueue.store.ClaimedMessage;

/**
 * Runs handlers in transactions that also record that their message was handled, so that
 * each message has the effects of one handler call. Thread-safe.
 */
public interface HandlerTransactions {

    /**
     * Checks whether a method can be called in a transaction, when its listener is
     * registered.
     * @param targetClass the class of the bean behind its proxies
     * @throws IllegalArgumentException if it cannot, with the reason
     */
    void require(Method method, Class<?> targetClass);

    /**
     * Checks whether the messages of queues can be handled in transactions, when their
     * listener is registered.
     * @throws IllegalArgumentException if they cannot, with the reason
     */
    void require(List<QueueName> queues);

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
