package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.function.DoubleSupplier;

import io.delayqueue.MessageLimits;
import io.delayqueue.store.Texts;

/**
 * Computes the wait before a failed message is retried:
 * {@code initial * multiplier^(failures - 1)}, at most {@code max}, then increased or
 * reduced by a random share of at most {@code jitter}.
 *
 * @param initial wait after the first failure, zero or more
 * @param multiplier growth after each further failure, at least 1
 * @param max longest wait before jitter, at least {@code initial}
 * @param jitter greatest random share, 0 to 1
 */
public record BackoffPolicy(Duration initial, double multiplier, Duration max, double jitter) {

    public BackoffPolicy {
        ListenerSettings.require(!initial.isNegative() && initial.compareTo(MessageLimits.MAX_DURATION) <= 0,
                "backoff.initial", "zero to %d days".formatted(MessageLimits.MAX_DURATION.toDays()), initial);
        ListenerSettings.require(multiplier >= 1 && Double.isFinite(multiplier), "backoff.multiplier", "at least 1",
                multiplier);
        ListenerSettings.require(max.compareTo(initial) >= 0 && max.compareTo(MessageLimits.MAX_DURATION) <= 0,
                "backoff.max", "at least backoff.initial (%s) and at most %d days".formatted(Texts.span(initial),
                        MessageLimits.MAX_DURATION.toDays()),
                max);
        ListenerSettings.require(jitter >= 0 && jitter <= 1, "backoff.jitter", "0 to 1", jitter);
    }

    /**
     * Returns the wait after a failure, in whole milliseconds, from zero to
     * {@link MessageLimits#MAX_DURATION}.
     * @param failures number of failures, from 1
     * @param random a number from 0 to 1
     */
    public Duration delayAfter(int failures, DoubleSupplier random) {
        double millis = Math.min(
                (double) this.initial.toMillis() * Math.pow(this.multiplier, Math.max(0, failures - 1)),
                (double) this.max.toMillis());
        double share = this.jitter * (2 * random.getAsDouble() - 1);
        // Infinity times zero is NaN, which rounds to zero.
        double jittered = millis * (1 + share);
        return Duration.ofMillis(Math.min(Math.round(jittered), MessageLimits.MAX_DURATION.toMillis()));
    }

}
