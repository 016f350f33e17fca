package io.delayqueue.listener;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

/**
 * Wakes a loop. A counter and not a flag: the loop notes it before it looks for work, so
 * a ring while it looks, or while it has no room, ends its next sleep at once.
 * <p>
 * <strong>Threads.</strong> Any thread rings. All else is the loop's.
 */
final class Alarm {

    private final AtomicLong rings = new AtomicLong();

    private volatile @Nullable Thread sleeper;

    private long seen;

    void ring() {
        this.rings.incrementAndGet();
        Thread thread = this.sleeper;
        if (thread != null) {
            LockSupport.unpark(thread);
        }
    }

    /** From here on, a ring ends the next sleep. */
    void look() {
        this.seen = this.rings.get();
    }

    boolean hasRung() {
        return this.rings.get() != this.seen;
    }

    /** Waits until the time is over or it has rung since {@link #look()}. */
    void sleep(Duration duration) throws InterruptedException {
        long start = System.nanoTime();
        long nanos = Nanos.of(duration);
        this.sleeper = Thread.currentThread();
        try {
            while (!hasRung()) {
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                long left = nanos - (System.nanoTime() - start);
                if (left <= 0) {
                    return;
                }
                LockSupport.parkNanos(this, left);
            }
        }
        finally {
            this.sleeper = null;
        }
    }

}
