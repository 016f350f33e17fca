package io.delayqueue.forward;

import org.jspecify.annotations.Nullable;

/**
 * Reports that a broker will never accept a message, for example because no route leads
 * to a queue. The message is dead-lettered at once, with this exception as the cause.
 *
 * @see MessageForwarder
 */
public final class UndeliverableMessageException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public UndeliverableMessageException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

}
