package io.delayqueue.store;

import java.time.Duration;
import java.time.Instant;

/**
 * Holds the due time set by a sender: either a delay that starts when the message is
 * stored, or a time of the store's clock. Rounded up to the millisecond, so that a
 * message is never delivered early.
 *
 * @param millis milliseconds from now, or since the epoch
 * @param relative whether {@code millis} is a delay
 */
public record DueTime(long millis, boolean relative) {

    /** Due as soon as it is stored. */
    public static final DueTime NOW = new DueTime(0, true);

    public static DueTime after(Duration delay) {
        return new DueTime(ceilToMillis(delay), true);
    }

    public static DueTime at(Instant instant) {
        if (instant.isBefore(Instant.EPOCH)) {
            // Any past time means now. Instant.MIN cannot be converted to milliseconds.
            return new DueTime(0, false);
        }
        long millis = instant.toEpochMilli();
        boolean fraction = instant.getNano() % 1_000_000 != 0;
        return new DueTime(fraction ? millis + 1 : millis, false);
    }

    /** Returns the length of a time span in milliseconds, rounded up. */
    public static long ceilToMillis(Duration span) {
        long millis = span.toMillis();
        return (span.compareTo(Duration.ofMillis(millis)) > 0) ? millis + 1 : millis;
    }

}
