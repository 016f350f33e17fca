package io.delayqueue.listener.poll;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/**
 * What one loop knows of its store's clock: by how much it is ahead of the monotonic one
 * of this process, between two bounds. Each answer that tells the time narrows them: the
 * store read its clock after the call was sent and before the answer came. So an answer
 * that is slow says little, and is never taken for a jump.
 * <p>
 * <strong>Threads.</strong> The turns of the loop.
 */
final class StoreClock {

    /** Clocks that are slewed, or run at slightly different speeds, lose no more. */
    private static final long DRIFT_SHARE = 1000;

    /** Nobody notices less. */
    private static final long LEAST = Nanos.of(Duration.ofMillis(100));

    private boolean known;

    /** How far ahead the clock was at first, about. */
    private long origin;

    /** Further than then, at least. */
    private long least;

    /** Further than then, at most. */
    private long most;

    private long since;

    /**
     * Takes notice of the time that an answer tells.
     * @param sentAt before the call was sent, by the monotonic clock
     * @param answeredAt after the answer had come
     * @param now the store's time in between
     * @return {@code null} unless the clock jumped
     */
    @Nullable Jump told(long sentAt, long answeredAt, Instant now) {
        long nanos = TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano();
        if (!this.known) {
            this.origin = nanos - sentAt;
        }
        // From there, as the difference itself may be beyond all numbers.
        long low = nanos - answeredAt - this.origin;
        long high = nanos - sentAt - this.origin;
        long drift = Math.max(0, answeredAt - this.since) / DRIFT_SHARE;
        Jump jump = null;
        if (!this.known) {
            restart(low, high);
        }
        else if (low - this.most - drift > LEAST || this.least - high - drift > LEAST) {
            jump = new Jump(Duration.ofNanos(low - this.most), Duration.ofNanos(high - this.least));
            restart(low, high);
        }
        else {
            restart(Math.max(this.least - drift, low), Math.min(this.most + drift, high));
            if (this.least > this.most) {
                restart(low, high);
            }
        }
        this.since = answeredAt;
        return jump;
    }

    private void restart(long low, long high) {
        this.known = true;
        this.least = low;
        this.most = high;
    }

    /**
     * A change of the clock that the passing of time does not explain; negative if it
     * went back.
     *
     * @param least no less than this
     * @param most no more than this
     */
    record Jump(Duration least, Duration most) {

        boolean isForward() {
            return !this.least.isNegative();
        }

        /** One jump after the other. */
        Jump plus(Jump other) {
            return new Jump(this.least.plus(other.least), this.most.plus(other.most));
        }

        /** Whether both may be of one amount. */
        boolean mayBe(Jump other) {
            return this.least.compareTo(other.most) <= 0 && other.least.compareTo(this.most) <= 0;
        }

    }

}
