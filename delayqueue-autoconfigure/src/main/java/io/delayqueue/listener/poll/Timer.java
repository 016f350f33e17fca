package io.delayqueue.listener.poll;

import java.time.Duration;

/** Waits, and runs short tasks later on a thread that must not be blocked. */
interface Timer {

    /** Runs the task once. */
    Scheduled after(Duration delay, Runnable task);

    /** Runs the task again and again, whatever it throws. */
    Scheduled every(Duration period, Runnable task);

    /** Waits on the caller's thread, less if it is interrupted. */
    void pause(Duration duration);

    /** Something that will run. */
    interface Scheduled {

        /** Prevents further runs; does not wait for one that has begun. */
        void cancel();

    }

}
