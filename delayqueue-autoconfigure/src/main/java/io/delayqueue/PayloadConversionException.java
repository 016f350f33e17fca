package io.delayqueue;

import org.jspecify.annotations.Nullable;

/** A payload cannot be written as JSON, or not be read as the type asked for. */
public final class PayloadConversionException extends DelayQueueException {

    private static final long serialVersionUID = 1L;

    public PayloadConversionException(String message, @Nullable Throwable cause) {
        super(message, Effect.NONE, cause);
    }

}
