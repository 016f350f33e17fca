package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Provides the time of listeners: reads a monotonic clock, schedules short tasks that do
 * not block, and pauses threads. The only source of time for listeners besides the store:
 * {@link TimerThread} follows the monotonic clock, and a test may follow a clock of its
 * own.
 * <p>
 * <strong>Threads.</strong> Any thread may call all methods.
 */
public interface LoopTimer {

    /** Returns the nanoseconds of a clock that never goes back, from any origin. */
    long nanoTime();

    /**
     * Runs the task once.
     * @return prevents the run, without waiting for a current one
     */
    Runnable after(Duration delay, Runnable task);

    /**
     * Runs an upkeep task once, some time after the delay. No message waits for it.
     * @return prevents the run, without waiting for a current one
     */
    default Runnable upkeep(Duration delay, Runnable task) {
        return after(delay, task);
    }

    /**
     * Runs the task repeatedly, even if it throws.
     * @return prevents further runs, without waiting for a current one
     */
    Runnable every(Duration period, Runnable task);

    /** Blocks the calling thread, until it is interrupted at the latest. */
    void pause(Duration duration);

    /** Returns a number from 0 to 1, by which waits vary. */
    default double random() {
        return ThreadLocalRandom.current().nextDouble();
    }

    /**
     * Returns a timer whose tasks may take longer and do not delay those of this one. It
     * does not keep the JVM alive.
     */
    default LoopTimer background(String name) {
        return this;
    }

    /** Ends all runs; later tasks never run. */
    default void close() {
    }

}
