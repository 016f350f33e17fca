package io.delayqueue.listener.poll;

import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.core.task.TaskDecorator;

/**
 * Applies the application's {@link TaskDecorator} to a task, and detects a decorator that
 * fails or does not run the task.
 * <p>
 * <strong>Threads.</strong> Any. A decorator captures the context of the thread that
 * calls {@code decorate}: for a message, the handler thread, which carries no context of
 * a sender or of another message; for the continuation of a handler's future, the thread
 * that completed it.
 */
final class SafeTaskDecorator {

    private static final Logger logger = LoggerFactory.getLogger(SafeTaskDecorator.class);

    private final @Nullable TaskDecorator decorator;

    SafeTaskDecorator(@Nullable TaskDecorator decorator) {
        this.decorator = decorator;
    }

    /**
     * Runs a task, decorated on this thread.
     * @param task must not throw
     * @return {@code null} if the task has begun; otherwise the reason why it never runs
     */
    @Nullable Throwable run(Runnable task) {
        if (this.decorator == null) {
            task.run();
            return null;
        }
        Once once = new Once(task);
        Throwable failure = null;
        try {
            this.decorator.decorate(once).run();
        }
        catch (Throwable ex) {
            failure = ex;
            logger.error("TaskDecorator {} failed", this.decorator, ex);
        }
        if (!once.begin()) {
            return null;
        }
        return (failure != null) ? failure
                : new IllegalStateException("TaskDecorator %s did not run its task".formatted(this.decorator));
    }

    /**
     * Decorates a task that another thread will run. The task runs in any case,
     * undecorated if the decorator fails.
     * @param task must not throw
     */
    Runnable decorate(Runnable task) {
        if (this.decorator == null) {
            return task;
        }
        Once once = new Once(task);
        Runnable decorated;
        try {
            decorated = this.decorator.decorate(once);
        }
        catch (Throwable ex) {
            logger.error("TaskDecorator {} failed", this.decorator, ex);
            return task;
        }
        return () -> {
            try {
                decorated.run();
            }
            catch (Throwable ex) {
                logger.error("TaskDecorator {} failed", this.decorator, ex);
            }
            finally {
                once.run();
            }
        };
    }

    /** Runs a task at most once, however often the decorator calls it. */
    private static final class Once implements Runnable {

        private final Runnable task;

        private final AtomicBoolean begun = new AtomicBoolean();

        Once(Runnable task) {
            this.task = task;
        }

        /** Marks the task as begun; returns {@code false} if it was begun before. */
        boolean begin() {
            return this.begun.compareAndSet(false, true);
        }

        @Override
        public void run() {
            if (begin()) {
                this.task.run();
            }
        }

    }

}
