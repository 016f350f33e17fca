package io.delayqueue.migrate.engine;

import java.time.Duration;

import io.delayqueue.migrate.SourceInUseException;

/**
 * Reserves a queue of a source, and waits while it is reserved for a process that was
 * killed.
 */
public final class SourceReservation {

    private static final Duration RETRY_DELAY = Duration.ofSeconds(1);

    /** More seconds than a queue is reserved for a process that was killed. */
    private static final int MAX_ATTEMPTS = 15;

    private SourceReservation() {
    }

    /**
     * Reserves a queue.
     * @param own calls {@link io.delayqueue.migrate.MigrationSource#own}
     * @param stop ends the wait
     * @return whether the queue is reserved; {@code false} if the wait was ended
     * @throws SourceInUseException if another process goes on working on the queue
     */
    public static boolean await(Runnable own, StopSignal stop) {
        for (int attempt = 1; !stop.isStopped(); attempt++) {
            try {
                own.run();
                return true;
            }
            catch (SourceInUseException ex) {
                if (attempt == MAX_ATTEMPTS) {
                    throw ex;
                }
                stop.pause(RETRY_DELAY);
            }
        }
        return false;
    }

}
