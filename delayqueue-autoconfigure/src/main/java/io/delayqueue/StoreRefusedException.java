package io.delayqueue;

import org.jspecify.annotations.Nullable;

/**
 * Reports that the store answered with an error: it is full, too old, read-only, or its
 * user lacks a permission. Fix the cause before repeating the call. Nothing was changed,
 * unless {@link #effect()} is unknown: a missing permission may stop an operation part of
 * the way.
 *
 * @see DelayQueueException
 */
public class StoreRefusedException extends DelayQueueException {

    private static final long serialVersionUID = 1L;

    public StoreRefusedException(String message, @Nullable Throwable cause) {
        this(message, Effect.NONE, cause);
    }

    public StoreRefusedException(String message, Effect effect, @Nullable Throwable cause) {
        super(message, effect, cause);
    }

    /**
     * Creates an exception for the send of one message.
     * @param messageId the id of the message; see {@link #messageId()}
     */
    public StoreRefusedException(String message, Effect effect, @Nullable String messageId, @Nullable Throwable cause) {
        super(message, effect, messageId, cause);
    }

}
