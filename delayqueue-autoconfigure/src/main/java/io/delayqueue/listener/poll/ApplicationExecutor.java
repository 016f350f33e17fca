package io.delayqueue.listener.poll;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

import org.jspecify.annotations.Nullable;

/**
 * Submits tasks to an executor of the application. Rejects tasks that the executor would
 * run in the calling thread, as {@code CallerRunsPolicy} does: that may be the thread of
 * the store's connection, and a handler on it would wait forever for an answer.
 */
final class ApplicationExecutor implements Executor {

    private final Executor executor;

    ApplicationExecutor(Executor executor) {
        this.executor = executor;
    }

    @Override
    public void execute(Runnable task) {
        Submitted submitted = new Submitted(task);
        this.executor.execute(submitted);
        submitted.caller = null;
        if (submitted.refused) {
            // A decorator of the executor may have caught the exception.
            throw rejection();
        }
    }

    private static RejectedExecutionException rejection() {
        return new RejectedExecutionException("The executor runs tasks in the calling thread");
    }

    /** Holds a task, and the thread that submits it until the submission returns. */
    private static final class Submitted implements Runnable {

        private final Runnable task;

        /**
         * Not volatile: the field matters only to the thread that it names, which is the
         * thread that wrote it.
         */
        private @Nullable Thread caller = Thread.currentThread();

        /** Whether the submitting thread ran this; only that thread reads the field. */
        private boolean refused;

        Submitted(Runnable task) {
            this.task = task;
        }

        @Override
        public void run() {
            if (this.caller == Thread.currentThread()) {
                this.refused = true;
                throw rejection();
            }
            this.task.run();
        }

    }

}
