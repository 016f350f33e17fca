package io.delayqueue.listener.poll;

import java.util.concurrent.Executor;

/** The threads of a worker. As an executor they run handlers, each at once. */
interface HandlerExecutor extends Executor {

    /**
     * Whether the application has other uses for these threads. Then each message is a
     * task of its own, and no thread goes on with the next one.
     */
    default boolean areShared() {
        return false;
    }

    /**
     * Runs a turn of a loop, or a round of renewals: here, if the calls of the store do
     * not wait.
     */
    default void turn(Runnable task) {
        task.run();
    }

    /** A handler begins; a stop may interrupt it. */
    default void began(InFlightMessage lease, HandlerTimeout handler) {
    }

    /** What becomes of the message of a handler that began is decided. */
    default void ended(InFlightMessage lease) {
    }

    /** Writes a log line, without blocking the caller if an appender blocks. */
    default void log(Runnable line) {
        line.run();
    }

}
