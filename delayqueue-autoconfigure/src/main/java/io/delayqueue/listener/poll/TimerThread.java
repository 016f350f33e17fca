package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs scheduled tasks on one thread. That of the process runs iterations of the loops,
 * renewals and timeouts. The thread starts with the first task, keeps the JVM of an
 * application alive that only has handlers, and ends with {@link #close()}. Later tasks
 * never run.
 */
final class TimerThread implements LoopTimer {

    private static final Logger logger = LoggerFactory.getLogger(TimerThread.class);

    private final ScheduledThreadPoolExecutor executor;

    TimerThread() {
        this("delayqueue-timer", false);
    }

    private TimerThread(String name, boolean daemon) {
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        this.executor = new ScheduledThreadPoolExecutor(1, (task) -> {
            Thread thread = new Thread(null, task, name, 0, false);
            thread.setContextClassLoader(loader);
            thread.setDaemon(daemon);
            return thread;
        });
        this.executor.setRemoveOnCancelPolicy(true);
        this.executor.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public Runnable after(Duration delay, Runnable task) {
        return cancellation(this.executor.schedule(guarded(task), Nanos.of(delay), TimeUnit.NANOSECONDS));
    }

    @Override
    public Runnable every(Duration period, Runnable task) {
        long nanos = Nanos.of(period);
        return cancellation(this.executor.scheduleWithFixedDelay(guarded(task), nanos, nanos, TimeUnit.NANOSECONDS));
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

    @Override
    public LoopTimer background(String name) {
        return new TimerThread(name, true);
    }

    @Override
    public void close() {
        this.executor.shutdownNow();
    }

    private static Runnable cancellation(Future<?> scheduled) {
        return () -> scheduled.cancel(false);
    }

    /** Guards a task, as one that throws would not run again. */
    private static Runnable guarded(Runnable task) {
        return () -> {
            try {
                task.run();
            }
            catch (Throwable ex) {
                logger.error("A task of the timer failed; the next ones run as planned", ex);
            }
        };
    }

}
