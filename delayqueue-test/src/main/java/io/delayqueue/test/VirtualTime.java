package io.delayqueue.test;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * Holds the time of a test, which stands on a whole millisecond until it is moved: that
 * of the store in microseconds since the epoch, that of listeners in nanoseconds, and
 * that of clocks.
 * <p>
 * <strong>Threads.</strong> Any thread reads; the thread of the test moves it.
 */
final class VirtualTime implements LongSupplier {

    private final long origin;

    private volatile long millis;

    /** Microseconds that are added for the present call of a thread to the store. */
    private final ThreadLocal<Integer> extraMicros = ThreadLocal.withInitial(() -> 0);

    /** Creates a time that stands at a millisecond since the epoch. */
    VirtualTime(long start) {
        this.origin = start;
        this.millis = this.origin;
    }

    /**
     * Returns the millisecond since the epoch at which a test begins.
     * @param startAt the time that the test asks for; {@code null} for the real time
     */
    static long begin(@Nullable Instant startAt) {
        return ((startAt != null) ? startAt : Instant.now()).toEpochMilli();
    }

    /** Returns the time of the store, in microseconds since the epoch. */
    @Override
    public long getAsLong() {
        return TimeUnit.MILLISECONDS.toMicros(this.millis) + this.extraMicros.get();
    }

    /**
     * Makes a call to the store at a moment within the present millisecond. Claims round
     * time down, so they may differ by that, and give different tokens.
     * @param micros 0 to 999
     */
    <T> T within(int micros, Supplier<T> call) {
        if (micros == 0) {
            return call.get();
        }
        this.extraMicros.set(micros);
        try {
            return call.get();
        }
        finally {
            this.extraMicros.remove();
        }
    }

    /** Returns the time in nanoseconds since an origin, as listeners use it. */
    long nanoTime() {
        return TimeUnit.MILLISECONDS.toNanos(this.millis - this.origin);
    }

    /**
     * Returns the earliest millisecond since the epoch that is not before a nanosecond.
     */
    long millisOf(long nanos) {
        return this.origin - Math.floorDiv(-nanos, TimeUnit.MILLISECONDS.toNanos(1));
    }

    long millis() {
        return this.millis;
    }

    void set(long millis) {
        this.millis = millis;
    }

    /** Returns the present time. */
    Instant now() {
        return Instant.ofEpochMilli(this.millis);
    }

    /** Returns a clock that follows this time. */
    Clock clock(ZoneId zone) {
        return new VirtualClock(this, zone);
    }

    /** Checks and converts a time span. */
    static long millis(Duration span) {
        if (span.isNegative() || span.getNano() % TimeUnit.MILLISECONDS.toNanos(1) != 0) {
            throw new IllegalArgumentException(
                    "Time can advance by zero or more whole milliseconds, but not by " + span);
        }
        return span.toMillis();
    }

    private static final class VirtualClock extends Clock {

        private final VirtualTime time;

        private final ZoneId zone;

        VirtualClock(VirtualTime time, ZoneId zone) {
            this.time = time;
            this.zone = zone;
        }

        @Override
        public ZoneId getZone() {
            return this.zone;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            return new VirtualClock(this.time, zone);
        }

        @Override
        public Instant instant() {
            return this.time.now();
        }

        @Override
        public String toString() {
            return "virtual time, now %s, in zone %s".formatted(instant(), this.zone);
        }

    }

}
