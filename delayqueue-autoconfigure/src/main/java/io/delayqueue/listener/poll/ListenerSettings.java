package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.Set;

import io.delayqueue.MessageLimits;
import io.delayqueue.admin.NodeOperations;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Texts;
import org.jspecify.annotations.Nullable;

/**
 * Holds the settings of one listener for one queue. Attributes of the annotation override
 * the settings of the queue, which override those of the application.
 *
 * @param concurrency most messages handled at the same time, 1 to 10000
 * @param lease how long a claim reserves a message, at least a second
 * @param timeout longest time a handler may take; {@code null} for no limit
 * @param maxAttempts failures after which a message is dead-lettered, at least 1
 * @param maxLapses lapses after a recorded start at which a message is dead-lettered
 * unhandled, at least 1
 * @param backoff waits between attempts
 * @param expiryPolicy how to settle a message past its time to live
 * @param autoStartup whether it starts with the application
 * @param noRetryFor failures after which a message is dead-lettered at once, including
 * subclasses
 */
public record ListenerSettings(int concurrency, Duration lease, @Nullable Duration timeout, int maxAttempts,
        int maxLapses, BackoffPolicy backoff, ExpiryPolicy expiryPolicy, boolean autoStartup,
        Set<Class<? extends Throwable>> noRetryFor) {

    private static final int MAX_CONCURRENCY = NodeOperations.MAX_CONCURRENCY;

    public ListenerSettings {
        require(concurrency >= 1 && concurrency <= MAX_CONCURRENCY, "concurrency", "1 to " + MAX_CONCURRENCY,
                concurrency);
        require(lease.compareTo(Duration.ofSeconds(1)) >= 0 && lease.compareTo(MessageLimits.MAX_DURATION) <= 0,
                "lease", "at least 1s and at most %d days".formatted(MessageLimits.MAX_DURATION.toDays()), lease);
        if (timeout != null) {
            require(timeout.compareTo(Duration.ZERO) > 0 && timeout.compareTo(MessageLimits.MAX_DURATION) <= 0,
                    "timeout", "more than zero and at most %d days".formatted(MessageLimits.MAX_DURATION.toDays()),
                    timeout);
        }
        require(maxAttempts >= 1, "maxAttempts", "at least 1", maxAttempts);
        require(maxLapses >= 1, "maxLapses", "at least 1", maxLapses);
        noRetryFor = Set.copyOf(noRetryFor);
    }

    /** Returns a copy with another concurrency. */
    public ListenerSettings withConcurrency(int concurrency) {
        return new ListenerSettings(concurrency, this.lease, this.timeout, this.maxAttempts, this.maxLapses,
                this.backoff, this.expiryPolicy, this.autoStartup, this.noRetryFor);
    }

    /** Returns a copy with another lease. */
    public ListenerSettings withLease(Duration lease) {
        return new ListenerSettings(this.concurrency, lease, this.timeout, this.maxAttempts, this.maxLapses,
                this.backoff, this.expiryPolicy, this.autoStartup, this.noRetryFor);
    }

    /** Returns a copy with another timeout. */
    public ListenerSettings withTimeout(@Nullable Duration timeout) {
        return new ListenerSettings(this.concurrency, this.lease, timeout, this.maxAttempts, this.maxLapses,
                this.backoff, this.expiryPolicy, this.autoStartup, this.noRetryFor);
    }

    /** Returns a copy with another maximum of attempts. */
    public ListenerSettings withMaxAttempts(int maxAttempts) {
        return new ListenerSettings(this.concurrency, this.lease, this.timeout, maxAttempts, this.maxLapses,
                this.backoff, this.expiryPolicy, this.autoStartup, this.noRetryFor);
    }

    /** Returns a copy with another backoff. */
    public ListenerSettings withBackoff(BackoffPolicy backoff) {
        return new ListenerSettings(this.concurrency, this.lease, this.timeout, this.maxAttempts, this.maxLapses,
                backoff, this.expiryPolicy, this.autoStartup, this.noRetryFor);
    }

    /** Returns a copy with another start. */
    public ListenerSettings withAutoStartup(boolean autoStartup) {
        return new ListenerSettings(this.concurrency, this.lease, this.timeout, this.maxAttempts, this.maxLapses,
                this.backoff, this.expiryPolicy, autoStartup, this.noRetryFor);
    }

    /** Returns a copy with other exceptions that are not retried. */
    public ListenerSettings withNoRetryFor(Set<Class<? extends Throwable>> noRetryFor) {
        return new ListenerSettings(this.concurrency, this.lease, this.timeout, this.maxAttempts, this.maxLapses,
                this.backoff, this.expiryPolicy, this.autoStartup, noRetryFor);
    }

    static void require(boolean met, String name, String rule, Object value) {
        if (!met) {
            throw new IllegalArgumentException("%s must be %s, but was %s".formatted(name, rule,
                    (value instanceof Duration span) ? Texts.span(span) : value));
        }
    }

}
