package io.delayqueue.listener.poll;

import java.util.concurrent.Executor;

/** Runs handlers, each at once, and the turns of loops. */
interface HandlerExecutor extends Executor {

    /**
     * Returns whether the application uses these threads for other tasks. Then each
     * message is a task of its own, and no thread continues with the next message.
     */
    default boolean areShared() {
        return false;
    }

    /**
     * Runs a turn of a loop or a round of renewals: in the calling thread, unless calls
     * of the store block.
     */
    default void turn(Runnable task) {
        task.run();
    }

    /** Registers a handler that begins, so that a stop can interrupt it. */
    default void began(InFlightMessage lease, HandlerTimeout handler) {
    }

    /** Unregisters a handler, once the outcome of its message is decided. */
    default void ended(InFlightMessage lease) {
    }

    /** Writes a log line without blocking the caller, even if an appender blocks. */
    default void log(Runnable line) {
        line.run();
    }

}
