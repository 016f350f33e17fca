package io.delayqueue.store;

import java.time.Duration;

import io.delayqueue.admin.QueueActivity.Lateness;
import org.jspecify.annotations.Nullable;

/**
 * Defines the classes of lateness in which nodes report their handler starts. The classes
 * are fixed, so counts of several nodes can be added.
 */
public final class LatenessClasses {

    /** Inclusive upper bounds in milliseconds; the last class has none. */
    private static final long[] BOUNDS = { 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 120_000,
            600_000 };

    /** Number of classes. */
    public static final int COUNT = BOUNDS.length + 1;

    private LatenessClasses() {
    }

    /** Returns the class of a lateness in microseconds. */
    public static int of(long micros) {
        int at = 0;
        while (at < BOUNDS.length && micros > BOUNDS[at] * 1_000) {
            at++;
        }
        return at;
    }

    /**
     * Returns the percentiles.
     * @param counts the number of handler starts of each class; further elements are
     * ignored
     * @return {@code null} if all counts are zero
     */
    public static @Nullable Lateness lateness(long[] counts) {
        return (total(counts) > 0)
                ? new Lateness(percentile(counts, 0.5), percentile(counts, 0.95), percentile(counts, 0.99)) : null;
    }

    /** Returns the number of handler starts. */
    public static long total(long[] counts) {
        long total = 0;
        for (int i = 0; i < COUNT; i++) {
            total += counts[i];
        }
        return total;
    }

    /** Interpolates within a class, and returns the lower bound of the last one. */
    private static Duration percentile(long[] counts, double part) {
        double wanted = part * total(counts);
        long before = 0;
        for (int i = 0; i < BOUNDS.length; i++) {
            if (counts[i] > 0 && before + counts[i] >= wanted) {
                long lower = (i > 0) ? BOUNDS[i - 1] : 0;
                double micros = 1_000 * (lower + (BOUNDS[i] - lower) * (wanted - before) / counts[i]);
                return Duration.ofNanos(Math.round(micros) * 1_000);
            }
            before += counts[i];
        }
        return Duration.ofMillis(BOUNDS[BOUNDS.length - 1]);
    }

}
