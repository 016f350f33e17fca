package io.delayqueue.journal;

import org.jspecify.annotations.Nullable;

/**
 * Reports that a handler's transaction has neither committed nor failed for a reason of
 * the handler, so that no attempt counts.
 *
 * @see io.delayqueue.DelayedListener#transactional
 */
public final class HandlerTransactionException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final Reason reason;

    HandlerTransactionException(Reason reason, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.reason = reason;
    }

    public Reason reason() {
        return this.reason;
    }

    /** Names which messages are affected, and whether the handler was called. */
    public enum Reason {

        /** No message can be handled in a transaction now. */
        UNAVAILABLE,

        /**
         * Another transaction has recorded this message, and has not ended. The handler
         * was not called.
         */
        HELD,

        /** The connection of this transaction was lost after the handler was called. */
        LOST

    }

}
