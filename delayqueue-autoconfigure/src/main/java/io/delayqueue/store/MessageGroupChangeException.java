package io.delayqueue.store;

import io.delayqueue.StoreRefusedException;
import org.jspecify.annotations.Nullable;

/**
 * Reports that a message was not stored because it would have changed the group of its
 * id. A repeated send fails for the same reason as long as the queue holds the id.
 */
public final class MessageGroupChangeException extends StoreRefusedException {

    private static final long serialVersionUID = 1L;

    MessageGroupChangeException(String message) {
        super(message, null);
    }

    /** Creates an exception with the same meaning as another one. */
    public MessageGroupChangeException(MessageGroupChangeException failure, @Nullable Throwable cause) {
        super(String.valueOf(failure.getMessage()), cause);
    }

}
