package io.delayqueue.store;

import io.delayqueue.StoreRefusedException;

/**
 * Reports that a message was not stored because it would have changed the group of its
 * id. A repeated send fails for the same reason as long as the queue holds the id.
 */
public final class MessageGroupChangeException extends StoreRefusedException {

    private static final long serialVersionUID = 1L;

    MessageGroupChangeException(String message) {
        super(message, null);
    }

}
