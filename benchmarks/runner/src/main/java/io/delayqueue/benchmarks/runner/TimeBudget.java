package io.delayqueue.benchmarks.runner;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Limits how long a run takes, so that others can have the machine in between. The first
 * part of a run always fits, however long it takes, or nothing would ever be measured.
 */
final class TimeBudget {

    static final TimeBudget UNLIMITED = new TimeBudget(Long.MAX_VALUE, System::nanoTime);

    private final long limitNanos;

    private final LongSupplier nanoTime;

    private final long start;

    private boolean begun;

    TimeBudget(long limitNanos, LongSupplier nanoTime) {
        this.limitNanos = limitNanos;
        this.nanoTime = nanoTime;
        this.start = nanoTime.getAsLong();
    }

    /** Creates a budget of some minutes; 0 for no limit. */
    static TimeBudget ofMinutes(int minutes) {
        return (minutes == 0) ? UNLIMITED : new TimeBudget(TimeUnit.MINUTES.toNanos(minutes), System::nanoTime);
    }

    /** Returns whether a part of an estimated length may begin. */
    boolean fits(long seconds) {
        long used = this.nanoTime.getAsLong() - this.start;
        boolean fits = !this.begun || used + TimeUnit.SECONDS.toNanos(seconds) <= this.limitNanos;
        this.begun |= fits;
        return fits;
    }

}
