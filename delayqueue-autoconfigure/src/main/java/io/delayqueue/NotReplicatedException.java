package io.delayqueue;

import org.jspecify.annotations.Nullable;

/**
 * A message is stored, but it is not known that as many replicas have it as were asked
 * for. It is delivered like any other, unless a failover loses it. To send it again under
 * its id does no harm, and asks the replicas again: once such a send returns they have
 * the message that the queue holds.
 */
public final class NotReplicatedException extends DelayQueueException {

    private static final long serialVersionUID = 1L;

    public NotReplicatedException(String message, @Nullable Throwable cause) {
        super(message, Effect.STORED, cause);
    }

}
