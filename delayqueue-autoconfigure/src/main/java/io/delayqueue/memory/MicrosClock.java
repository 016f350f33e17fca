package io.delayqueue.memory;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Measures the time of a store in this process, in microseconds since the epoch.
 * <p>
 * With Redis the time is the server's, and the clocks of JVMs are not used. This store is
 * its own server, so this class is its {@code TIME}, and the only place in the library
 * that reads the wall clock: once, at creation. Later it adds the elapsed time, so that
 * it never steps.
 * <p>
 * <strong>Threads.</strong> Any; it does not change.
 */
public final class MicrosClock implements LongSupplier {

    private final long startMicros = ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());

    private final long startNanos = System.nanoTime();

    @Override
    public long getAsLong() {
        return this.startMicros + TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - this.startNanos);
    }

}
