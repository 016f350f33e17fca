package io.delayqueue.testing;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * The time of a store, in microseconds since the epoch, that only a test moves.
 * <p>
 * <strong>Threads.</strong> Any may read and move it.
 */
public final class ManualClock implements LongSupplier {

    /** Where every such clock begins: on a whole millisecond. */
    public static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

    private final AtomicLong micros = new AtomicLong(ChronoUnit.MICROS.between(Instant.EPOCH, START));

    @Override
    public long getAsLong() {
        return this.micros.get();
    }

    public Instant now() {
        return Instant.EPOCH.plus(this.micros.get(), ChronoUnit.MICROS);
    }

    public void advance(Duration time) {
        this.micros.addAndGet(time.toNanos() / 1_000);
    }

}
