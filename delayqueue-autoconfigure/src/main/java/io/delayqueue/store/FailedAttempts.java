package io.delayqueue.store;

import org.jspecify.annotations.Nullable;

/**
 * Holds the number of failed attempts of a message that a journal restores.
 *
 * @param count how often the message has failed
 * @param dueMillis when it is due again, in milliseconds since the epoch; {@code null}
 * for its own due time
 */
public record FailedAttempts(int count, @Nullable Long dueMillis) {

    /** Those of a message that has not failed. */
    public static final FailedAttempts NONE = new FailedAttempts(0, null);

}
