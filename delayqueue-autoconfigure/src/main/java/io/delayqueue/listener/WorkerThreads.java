package io.delayqueue.listener;

import java.util.concurrent.Executor;

/** The threads of a worker. As an executor they run handlers, each at once. */
interface WorkerThreads extends Executor {

    /**
     * Runs a turn of a loop, or a round of renewals: here, if the calls of the store do
     * not wait.
     */
    default void turn(Runnable task) {
        task.run();
    }

}
