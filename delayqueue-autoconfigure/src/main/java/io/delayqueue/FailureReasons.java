package io.delayqueue;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * Holds why a message is retried: the failures of its handler, each in one line of at
 * most 500 characters, with the type and the message of the exception. May quote the
 * payload.
 *
 * @param first the first failure; {@code null} if it is not known, because the message
 * was restored from a journal after it
 * @param last the last failure; {@code null} if it is not known, because a node of an
 * earlier version recorded the failures
 * @param lastAt when the handler failed last, on the store's clock; {@code null} if
 * {@code last} is
 * @see MessageSummary#failureReasons()
 * @see DelayQueueOperations
 */
public record FailureReasons(@Nullable String first, @Nullable String last, @Nullable Instant lastAt) {

    /** Describes it without the failures, which may be private. */
    @Override
    public String toString() {
        return "FailureReasons[lastAt=%s]".formatted(this.lastAt);
    }

}
