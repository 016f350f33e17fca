package io.delayqueue.testing;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Waits for what another process does, which cannot ring us. Threads: the caller's own.
 */
final class Poll {

    static final Duration PATIENCE = Duration.ofMinutes(1);

    private static final Duration INTERVAL = Duration.ofMillis(5);

    private Poll() {
    }

    /**
     * Returns once the condition holds; after {@link #PATIENCE} throws with the
     * description. An exception of the condition counts as "not yet".
     */
    static void until(Supplier<String> description, BooleanSupplier condition) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        RuntimeException last = null;
        while (System.nanoTime() - deadline < 0) {
            try {
                if (condition.getAsBoolean()) {
                    return;
                }
            }
            catch (RuntimeException ex) {
                last = ex;
            }
            LockSupport.parkNanos(INTERVAL.toNanos());
        }
        throw new IllegalStateException("Waited %s in vain: %s".formatted(PATIENCE, description.get()), last);
    }

}
