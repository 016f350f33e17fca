package io.delayqueue;

import org.jspecify.annotations.Nullable;

/**
 * The store answered with an error: it is full, too old, read-only, or its user lacks a
 * permission. Nothing was changed, and repeating the call does not help before somebody
 * has mended the cause.
 */
public final class StoreRefusedException extends DelayQueueException {

    private static final long serialVersionUID = 1L;

    public StoreRefusedException(String message, @Nullable Throwable cause) {
        super(message, Effect.NONE, cause);
    }

}
