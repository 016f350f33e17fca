package io.delayqueue;

import org.jspecify.annotations.Nullable;

/**
 * Reports that the store could not be reached, or did not answer in time.
 * {@link #effect()} says whether the operation may have taken effect. Repeating a send is
 * safe if the message has an id chosen by the caller.
 *
 * @see DelayQueueException
 */
public final class StoreUnavailableException extends DelayQueueException {

    private static final long serialVersionUID = 1L;

    public StoreUnavailableException(String message, Effect effect, @Nullable Throwable cause) {
        super(message, effect, cause);
    }

    /**
     * Creates an exception for the send of one message.
     * @param messageId the id of the message; see {@link #messageId()}
     */
    public StoreUnavailableException(String message, Effect effect, @Nullable String messageId,
            @Nullable Throwable cause) {
        super(message, effect, messageId, cause);
    }

}
