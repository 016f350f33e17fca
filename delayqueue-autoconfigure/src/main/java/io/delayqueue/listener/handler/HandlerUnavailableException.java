package io.delayqueue.listener.handler;

import org.jspecify.annotations.Nullable;

/**
 * Reports that a handler can process no message at the moment, because a system that it
 * needs is unavailable. The message is released with its due time, and no attempt counts.
 */
public final class HandlerUnavailableException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public HandlerUnavailableException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

}
