package io.delayqueue;

import java.time.Duration;

/**
 * Reports that a handler did not return within the timeout of its listener. Counts as a
 * failure.
 *
 * @see DelayedListener#timeout()
 */
public final class HandlerTimeoutException extends DelayQueueException {

    private static final long serialVersionUID = 1L;

    public HandlerTimeoutException(Duration timeout) {
        super("The handler did not end within its timeout of %s".formatted(MessageLimits.describe(timeout)),
                Effect.UNKNOWN, null);
    }

}
