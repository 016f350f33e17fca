package io.delayqueue.migrate.engine;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Ends a run early. The batch that is under way is settled first. Thread-safe.
 */
public class StopSignal {

    private final CountDownLatch stopped = new CountDownLatch(1);

    /** Requests the end of the run. */
    public void stop() {
        this.stopped.countDown();
    }

    /** Returns whether the run shall end. */
    public boolean isStopped() {
        return this.stopped.getCount() == 0;
    }

    /** Waits, but not longer than until the run shall end. */
    public void pause(Duration time) {
        try {
            if (this.stopped.await(time.toNanos(), TimeUnit.NANOSECONDS)) {
                return;
            }
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            stop();
        }
    }

}
