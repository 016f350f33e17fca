package io.delayqueue.listener.poll;

import java.time.Duration;

/** Runs short tasks later, on a thread that must not be blocked, and pauses threads. */
interface Timer {

    /** Runs the task once. */
    Scheduled after(Duration delay, Runnable task);

    /** Runs the task repeatedly, even if it throws. */
    Scheduled every(Duration period, Runnable task);

    /** Blocks the calling thread, until it is interrupted at the latest. */
    void pause(Duration duration);

    /** Controls a scheduled task. */
    interface Scheduled {

        /** Prevents further runs; does not wait for a current one. */
        void cancel();

    }

}
