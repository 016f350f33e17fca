package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs all scheduled tasks of the process on one thread: turns of the loops, renewals and
 * timeouts. The thread starts with the first task, keeps the JVM of an application alive
 * that only has handlers, and ends with {@link #close()}. Later tasks never run.
 */
public final class TimerThread implements Timer {

    private static final Logger logger = LoggerFactory.getLogger(TimerThread.class);

    private final ScheduledThreadPoolExecutor executor;

    public TimerThread() {
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        this.executor = new ScheduledThreadPoolExecutor(1, (task) -> {
            Thread thread = new Thread(null, task, "delayqueue-timer", 0, false);
            thread.setContextClassLoader(loader);
            thread.setDaemon(false);
            return thread;
        });
        this.executor.setRemoveOnCancelPolicy(true);
    }

    @Override
    public Scheduled after(Duration delay, Runnable task) {
        return schedule(() -> this.executor.schedule(guarded(task), Nanos.of(delay), TimeUnit.NANOSECONDS));
    }

    @Override
    public Scheduled every(Duration period, Runnable task) {
        long nanos = Nanos.of(period);
        return schedule(() -> this.executor.scheduleWithFixedDelay(guarded(task), nanos, nanos, TimeUnit.NANOSECONDS));
    }

    @Override
    public void pause(Duration duration) {
        long start = System.nanoTime();
        long left = Nanos.of(duration);
        while (left > 0 && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(this, left);
            left = Nanos.of(duration) - (System.nanoTime() - start);
        }
    }

    public void close() {
        this.executor.shutdownNow();
    }

    private static Scheduled schedule(Supplier<ScheduledFuture<?>> task) {
        try {
            ScheduledFuture<?> future = task.get();
            return () -> future.cancel(false);
        }
        catch (RejectedExecutionException ex) {
            return () -> {
            };
        }
    }

    /** Guards a task, as one that throws would not run again. */
    private static Runnable guarded(Runnable task) {
        return () -> {
            try {
                task.run();
            }
            catch (Throwable ex) {
                logger.error("A task of the timer failed; the next one is tried as planned", ex);
            }
        };
    }

}
