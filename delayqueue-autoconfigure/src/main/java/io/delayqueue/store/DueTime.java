package io.delayqueue.store;

import java.time.Duration;
import java.time.Instant;

/**
 * When a message shall be due, as its sender said it: so long after the store takes it,
 * or at a time of the store's clock. Rounded up to the millisecond, so that rounding
 * never makes anything early.
 *
 * @param millis milliseconds from now, or since the epoch
 * @param relative which of the two
 */
public record DueTime(long millis, boolean relative) {

    /** Due as soon as the store has it. */
    public static final DueTime NOW = new DueTime(0, true);

    public static DueTime after(Duration delay) {
        return new DueTime(ceilToMillis(delay), true);
    }

    public static DueTime at(Instant instant) {
        if (instant.isBefore(Instant.EPOCH)) {
            // Past is past, and the furthest past has no milliseconds since the epoch.
            return new DueTime(0, false);
        }
        long millis = instant.toEpochMilli();
        boolean fraction = instant.getNano() % 1_000_000 != 0;
        return new DueTime(fraction ? millis + 1 : millis, false);
    }

    /** The length of a span in milliseconds, rounded up. */
    public static long ceilToMillis(Duration span) {
        long millis = span.toMillis();
        return (span.compareTo(Duration.ofMillis(millis)) > 0) ? millis + 1 : millis;
    }

}
