package io.delayqueue;

import org.jspecify.annotations.Nullable;

/**
 * The store could not be reached, or did not answer in time. {@link #effect()} says
 * whether the operation may have taken effect; a send that is repeated with an id of its
 * own does no harm.
 */
public final class StoreUnavailableException extends DelayQueueException {

    private static final long serialVersionUID = 1L;

    public StoreUnavailableException(String message, Effect effect, @Nullable Throwable cause) {
        super(message, effect, cause);
    }

}
