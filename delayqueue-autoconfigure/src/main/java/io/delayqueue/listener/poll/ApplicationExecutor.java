package io.delayqueue.listener.poll;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

import org.jspecify.annotations.Nullable;

/**
 * Submits tasks to an executor of the application. Rejects what that would run in the
 * calling thread, as {@code CallerRunsPolicy} does: this may be the thread of the store's
 * connection, whose answers the handler would then wait for in vain.
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

    /** A task, with the thread that submits it as long as it does so. */
    private static final class Submitted implements Runnable {

        private final Runnable task;

        /**
         * Not volatile: only the thread that is named here finds itself in it, and that
         * is the one that wrote it.
         */
        private @Nullable Thread caller = Thread.currentThread();

        /** Whether the thread that submits it has run it; only that thread reads it. */
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
