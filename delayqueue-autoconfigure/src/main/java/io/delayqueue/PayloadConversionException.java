package io.delayqueue;

import org.jspecify.annotations.Nullable;

/**
 * Reports a payload that cannot be written as JSON, or cannot be read as the requested
 * type.
 *
 * @see DelayQueueException
 */
public final class PayloadConversionException extends DelayQueueException {

    private static final long serialVersionUID = 1L;

    public PayloadConversionException(String message, @Nullable Throwable cause) {
        super(message, Effect.NONE, cause);
    }

}
