package io.delayqueue.forward;

import org.jspecify.annotations.Nullable;

/**
 * Reports that a broker cannot confirm any message at the moment. The message is released
 * without counting an attempt, and the queue is polled again a little later.
 *
 * @see MessageForwarder
 */
public final class BrokerUnavailableException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public BrokerUnavailableException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

}
