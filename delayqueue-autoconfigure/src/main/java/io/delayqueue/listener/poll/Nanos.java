package io.delayqueue.listener.poll;

import java.time.Duration;

/** Converts time spans to nanoseconds, as {@link System#nanoTime()} counts them. */
public final class Nanos {

    private Nanos() {
    }

    /** Returns the nanoseconds, at most half of {@code Long.MAX_VALUE} (146 years). */
    public static long of(Duration span) {
        Duration longest = Duration.ofNanos(Long.MAX_VALUE / 2);
        return (span.compareTo(longest) < 0) ? span.toNanos() : longest.toNanos();
    }

    static Duration shorter(Duration one, Duration other) {
        return (one.compareTo(other) < 0) ? one : other;
    }

}
