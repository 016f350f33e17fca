package io.delayqueue.listener.handler;

import io.delayqueue.store.ClaimedMessage;

/**
 * Runs handlers in transactions that also record that their message was handled, so that
 * each message has the effects of one handler call. Thread-safe.
 */
@FunctionalInterface
public interface HandlerTransactions {

    /**
     * Runs a handler in a transaction, unless an earlier transaction for this message has
     * committed.
     * @param handler the call of the handler; an exception rolls the transaction back
     * @throws Throwable the exception of the handler, or that of the transaction
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
