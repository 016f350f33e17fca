package io.delayqueue.migrate.engine;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Limits how many entries are moved in a second, and in one batch. Not thread-safe.
 */
public final class MoveRate {

    private static final long SECOND = Duration.ofSeconds(1).toNanos();

    private final int batch;

    private final int rate;

    private final LongSupplier nanoTime;

    private long next;

    /**
     * Creates a limit.
     * @param batch maximum number of entries of a batch, 1 to 1,000
     * @param rate maximum number of entries in a second; zero for no limit
     * @param nanoTime the time in nanoseconds
     */
    public MoveRate(int batch, int rate, LongSupplier nanoTime) {
        if (batch < 1 || batch > 1_000) {
            throw new IllegalArgumentException("--batch=%d is not valid: use 1 to 1000".formatted(batch));
        }
        if (rate < 0) {
            throw new IllegalArgumentException(
                    "--rate=%d is not valid: use 1 or more entries per second, or 0 for no limit".formatted(rate));
        }
        this.batch = (rate == 0) ? batch : Math.min(batch, rate);
        this.rate = rate;
        this.nanoTime = nanoTime;
        this.next = nanoTime.getAsLong();
    }

    /** Returns the maximum number of entries to take at once. */
    int batch() {
        return this.batch;
    }

    /** Returns how long to wait before the next batch, after {@code moved} entries. */
    Duration after(int moved) {
        if (this.rate == 0) {
            return Duration.ZERO;
        }
        long now = this.nanoTime.getAsLong();
        this.next = Math.max(this.next, now - SECOND) + moved * SECOND / this.rate;
        return Duration.ofNanos(Math.max(0, this.next - now));
    }

}
