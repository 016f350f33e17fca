package io.delayqueue.listener.poll;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/**
 * Detects jumps of the store's clock: keeps a lower and an upper bound of how far it is
 * ahead of the monotonic clock of this process, and reports an answer outside them. Each
 * answer that contains the store's time narrows them: the store read its clock after the
 * call was sent and before the answer arrived. A slow answer therefore narrows them
 * little, and never counts as a jump. The same answers show how much slower a call was
 * than the fastest one.
 * <p>
 * <strong>Threads.</strong> The iterations of the loop.
 */
final class ClockJumpDetector {

    /** Tolerates slewed clocks, and differences in speed, of one part in this many. */
    private static final long DRIFT_SHARE = 1000;

    /**
     * Forgets the fastest call by one part in this many of the time since. More would
     * make almost each call the fastest at a low rate, and half of the calls too early.
     */
    private static final long FORGOTTEN_SHARE = 50_000;

    /** Smaller jumps are not reported. */
    private static final long MIN_JUMP = Nanos.of(Duration.ofMillis(100));

    private boolean known;

    /** About how far ahead the clock was at first, in nanoseconds. */
    private long origin;

    /** The lower bound, relative to the origin. */
    private long least;

    /** The upper bound, relative to the origin. */
    private long most;

    private long since;

    /** The upper bound by the fastest call, relative to the origin. */
    private long fastest;

    /** By how much the last call was slower than that one. */
    private long delay;

    /**
     * Updates the bounds with the store's time in an answer.
     * @param now the store's time between the call and the answer
     * @return the jump of the clock; {@code null} if it did not jump
     */
    @Nullable Jump record(long sentAt, long answeredAt, Instant now) {
        long nanos = TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano();
        if (!this.known) {
            this.origin = nanos - sentAt;
        }
        // Relative to the origin, as the absolute difference may overflow.
        long low = nanos - answeredAt - this.origin;
        long high = nanos - sentAt - this.origin;
        long drift = Math.max(0, answeredAt - this.since) / DRIFT_SHARE;
        Jump jump = null;
        if (!this.known) {
            restart(low, high);
        }
        else if (low - this.most - drift > MIN_JUMP || this.least - high - drift > MIN_JUMP) {
            jump = new Jump(Duration.ofNanos(low - this.most), Duration.ofNanos(high - this.least));
            restart(low, high);
        }
        else {
            restart(Math.max(this.least - drift, low), Math.min(this.most + drift, high));
            if (this.least > this.most) {
                restart(low, high);
            }
        }
        long fastest = this.fastest + Math.max(0, answeredAt - this.since) / FORGOTTEN_SHARE;
        this.fastest = (fastest < this.least || fastest > high) ? high : fastest;
        this.delay = high - this.fastest;
        this.since = answeredAt;
        return jump;
    }

    /**
     * Returns how many nanoseconds more than the fastest call that is known the last one
     * took until the store read its clock.
     */
    long delay() {
        return this.delay;
    }

    private void restart(long low, long high) {
        this.known = true;
        this.least = low;
        this.most = high;
    }

    /**
     * Holds the bounds of a clock change that elapsed time does not explain; negative if
     * the clock went back.
     */
    record Jump(Duration least, Duration most) {

        boolean isForward() {
            return !this.least.isNegative();
        }

        /** Returns the sum of two successive jumps. */
        Jump plus(Jump other) {
            return new Jump(this.least.plus(other.least), this.most.plus(other.most));
        }

        /** Returns whether both may be the same size. */
        boolean mayBe(Jump other) {
            return this.least.compareTo(other.most) <= 0 && other.least.compareTo(this.most) <= 0;
        }

    }

}
