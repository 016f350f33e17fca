package io.delayqueue.listener.handler;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Reports that a handler cannot process a message at the moment, because something that
 * it needs is unavailable. The message is released, and no attempt counts.
 */
public final class HandlerUnavailableException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final @Nullable Duration delay;

    /**
     * Creates an exception for all messages of the handler. This one is released with its
     * due time, so that the order of messages does not change.
     */
    public HandlerUnavailableException(String message, @Nullable Throwable cause) {
        super(message, cause);
        this.delay = null;
    }

    /**
     * Creates an exception for this message alone.
     * @param delay until the message is due again
     */
    public HandlerUnavailableException(@Nullable String message, @Nullable Throwable cause, Duration delay) {
        super(message, cause);
        this.delay = delay;
    }

    /**
     * Returns the delay until the message is due again; {@code null} if all messages of
     * the handler wait.
     */
    public @Nullable Duration delay() {
        return this.delay;
    }

}
