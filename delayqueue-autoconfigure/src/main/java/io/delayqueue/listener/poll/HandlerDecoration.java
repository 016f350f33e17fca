package io.delayqueue.listener.poll;

import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.core.task.TaskDecorator;

/**
 * Applies the application's {@link TaskDecorator}, whose failures must not cost a message
 * its settlement.
 * <p>
 * <strong>Threads.</strong> Any. A decorator captures from the thread that calls
 * {@code decorate}: for a message that is the handler thread, which carries nothing of a
 * sender or of another message; for what follows a future of a handler it is the thread
 * that completed the future.
 */
final class HandlerDecoration {

    private static final Logger logger = LoggerFactory.getLogger(HandlerDecoration.class);

    private final @Nullable TaskDecorator decorator;

    HandlerDecoration(@Nullable TaskDecorator decorator) {
        this.decorator = decorator;
    }

    /**
     * Runs a task, decorated by this thread.
     * @param task must not throw
     * @return {@code null} if the task has begun, else why not; it then never runs
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
     * Decorates a task that another thread will run. It is run in any case, undecorated
     * if the decorator fails.
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
        catch (RuntimeException ex) {
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

    /** A task that runs at most once, however often the decorator calls it. */
    private static final class Once implements Runnable {

        private final Runnable task;

        private final AtomicBoolean begun = new AtomicBoolean();

        Once(Runnable task) {
            this.task = task;
        }

        /** Whether it had not begun; it will not from here on. */
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
