package io.delayqueue.listener.poll;

import java.time.Duration;

/** Runs short tasks later, on a thread that must not be blocked, and pauses threads. */
interface LoopTimer {

    /**
     * Runs the task once.
     * @return prevents the run, without waiting for a current one
     */
    Runnable after(Duration delay, Runnable task);

    /**
     * Runs the task repeatedly, even if it throws.
     * @return prevents further runs, without waiting for a current one
     */
    Runnable every(Duration period, Runnable task);

    /** Blocks the calling thread, until it is interrupted at the latest. */
    void pause(Duration duration);

}
