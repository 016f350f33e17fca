package io.delayqueue.listener.poll;

import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskDecorator;

/**
 * Holds the application's executor and task decorator for handlers, and the factory of
 * the timer.
 *
 * @param executor runs each message as a task; {@code null} for the library's own
 * threads. Must neither run tasks in the calling thread nor block it, as that may be the
 * thread of the store's connection
 * @param decorator wraps the handling of each message; {@code null} for none
 * @param timers creates the timer of each run of the listeners, which the run closes
 * @param nanoTime the clock of these timers, also between two runs
 */
public record HandlerExecution(@Nullable Executor executor, @Nullable TaskDecorator decorator,
        Supplier<LoopTimer> timers, LongSupplier nanoTime) {

    private static final Supplier<LoopTimer> REAL_TIME = TimerThread::new;

    /** Runs handlers on the library's own threads, undecorated. */
    public static final HandlerExecution DEFAULT = new HandlerExecution(null, null);

    /** Creates settings with timers in real time. */
    public HandlerExecution(@Nullable Executor executor, @Nullable TaskDecorator decorator) {
        this(executor, decorator, REAL_TIME, System::nanoTime);
    }

}
