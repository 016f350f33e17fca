package io.delayqueue.listener.handler;

import org.jspecify.annotations.Nullable;

/**
 * Reports that a handler was called, and its effects were lost or are not known, as if
 * the process had died. The message is left to its lease: no attempt counts, and a
 * message that causes this again and again becomes a dead letter after its lapses.
 */
public final class HandlerOutcomeUnknownException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public HandlerOutcomeUnknownException(@Nullable String message, @Nullable Throwable cause) {
        super(message, cause);
    }

}
