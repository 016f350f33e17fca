package io.delayqueue.benchmarks.runner.process;

import java.util.concurrent.TimeUnit;

/** Lets time pass, which is part of a measurement. */
public final class Pause {

    private Pause() {
    }

    public static void millis(long millis) {
        try {
            // Real time: see the callers.
            TimeUnit.MILLISECONDS.sleep(millis);
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted", ex);
        }
    }

}
