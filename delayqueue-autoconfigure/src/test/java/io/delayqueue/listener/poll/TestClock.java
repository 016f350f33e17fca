package io.delayqueue.listener.poll;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** Simulates the nanoseconds of this process, and the store's time with them. */
final class TestClock implements LongSupplier {

    static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

    // Close to an overflow, as System.nanoTime() may be.
    private static final long ORIGIN = Long.MAX_VALUE - Duration.ofSeconds(20).toNanos();

    private final AtomicLong nanos = new AtomicLong(ORIGIN);

    @Override
    public long getAsLong() {
        return this.nanos.get();
    }

    Instant instant() {
        return START.plusNanos(this.nanos.get() - ORIGIN);
    }

    void advance(Duration duration) {
        this.nanos.addAndGet(duration.toNanos());
    }

}
