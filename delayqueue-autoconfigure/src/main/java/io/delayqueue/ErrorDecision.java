package io.delayqueue;

import java.time.Duration;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * Represents how a message is settled after a failed attempt, as decided by a
 * {@link DelayedListenerErrorHandler}.
 */
public sealed interface ErrorDecision {

    /**
     * Settles the message as without an error handler. After a failure of the handler it
     * is retried after its backoff, unless its attempts are used up or the exception is
     * one of {@link DelayedListener#noRetryFor()}. A message that cannot be read is
     * dead-lettered.
     */
    static ErrorDecision standard() {
        return Standard.INSTANCE;
    }

    /**
     * Retries the message after its backoff, whatever
     * {@link DelayedListener#noRetryFor()} says. If its attempts are used up, it is
     * dead-lettered nevertheless.
     */
    static ErrorDecision retry() {
        return new Retry(null);
    }

    /**
     * Retries the message after a delay, instead of its backoff. If its attempts are used
     * up, it is dead-lettered nevertheless.
     * @param delay zero to {@link MessageLimits#MAX_DURATION}
     * @throws IllegalArgumentException if it is negative or too long
     */
    static ErrorDecision retry(Duration delay) {
        return new Retry(Objects.requireNonNull(delay, "delay"));
    }

    /** Dead-letters the message now, with the exception as the cause. */
    static ErrorDecision deadLetter() {
        return new DeadLetter(null);
    }

    /**
     * Dead-letters the message now.
     * @param reason the cause to store, for operators
     */
    static ErrorDecision deadLetter(String reason) {
        return new DeadLetter(Objects.requireNonNull(reason, "reason"));
    }

    /**
     * Releases the message: it is due again after a delay, and the attempt does not
     * count. Nothing limits how often a message is released.
     * @param delay zero to {@link MessageLimits#MAX_DURATION}
     * @throws IllegalArgumentException if it is negative or too long
     */
    static ErrorDecision release(Duration delay) {
        return new Release(delay);
    }

    /** Settles the message as without an error handler. */
    enum Standard implements ErrorDecision {

        /** The only instance. */
        INSTANCE

    }

    /**
     * Retries the message, and counts the attempt.
     *
     * @param delay how long to wait; {@code null} for the backoff of the listener
     */
    record Retry(@Nullable Duration delay) implements ErrorDecision {

        public Retry {
            if (delay != null) {
                MessageLimits.requireDelay(delay);
            }
        }

    }

    /**
     * Dead-letters the message.
     *
     * @param reason the cause to store; {@code null} for the exception
     */
    record DeadLetter(@Nullable String reason) implements ErrorDecision {
    }

    /**
     * Releases the message without counting the attempt.
     *
     * @param delay how long to wait
     */
    record Release(Duration delay) implements ErrorDecision {

        public Release {
            MessageLimits.requireDelay(delay);
        }

    }

}
