package io.delayqueue;

import org.jspecify.annotations.Nullable;

/**
 * The store answered with an error: it is full, too old, read-only, or its user lacks a
 * permission. Repeating the call does not help before somebody has mended the cause.
 * Nothing was changed, unless {@link #effect()} says that this is not known: a permission
 * may be missed half of the way.
 */
public final class StoreRefusedException extends DelayQueueException {

    private static final long serialVersionUID = 1L;

    public StoreRefusedException(String message, @Nullable Throwable cause) {
        this(message, Effect.NONE, cause);
    }

    public StoreRefusedException(String message, Effect effect, @Nullable Throwable cause) {
        super(message, effect, cause);
    }

}
