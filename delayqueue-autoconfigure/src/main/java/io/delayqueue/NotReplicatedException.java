package io.delayqueue;

import org.jspecify.annotations.Nullable;

/**
 * Reports that a message is stored, but is not known to have reached as many replicas as
 * requested. It is delivered like any other message, unless a failover loses it. Sending
 * it again with its id is safe and waits for the replicas again: once that send returns,
 * they have the message that the queue holds.
 *
 * @see DelayQueueException
 */
public final class NotReplicatedException extends DelayQueueException {

    private static final long serialVersionUID = 1L;

    public NotReplicatedException(String message, @Nullable Throwable cause) {
        super(message, Effect.STORED, cause);
    }

    /**
     * Creates an exception for the send of one message.
     * @param messageId the id of the message; see {@link #messageId()}
     */
    public NotReplicatedException(String message, @Nullable String messageId, @Nullable Throwable cause) {
        super(message, Effect.STORED, messageId, cause);
    }

}
