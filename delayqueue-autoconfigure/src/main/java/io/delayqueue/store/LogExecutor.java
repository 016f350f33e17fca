package io.delayqueue.store;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes log lines on a separate thread, for callers that must not be blocked, such as a
 * client's event loop, where a slow appender would stall every call of the application.
 * The queue of lines is bounded; lines beyond the bound are counted and dropped.
 * <p>
 * <strong>Threads.</strong> Any. The thread, {@code delayqueue-log}, exists while there
 * are lines to write and for a few seconds afterwards.
 */
public final class LogExecutor implements Executor {

    private static final Logger logger = LoggerFactory.getLogger(LogExecutor.class);

    private static final int MAX_WAITING = 1_000;

    private static final long IDLE_SECONDS = 5;

    private static final long CLOSE_SECONDS = 1;

    private final ThreadPoolExecutor thread;

    private final AtomicLong leftOut = new AtomicLong();

    public LogExecutor() {
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        this.thread = new ThreadPoolExecutor(1, 1, IDLE_SECONDS, TimeUnit.SECONDS,
                new ArrayBlockingQueue<>(MAX_WAITING), (task) -> {
                    Thread writer = new Thread(null, task, "delayqueue-log", 0, false);
                    writer.setContextClassLoader(loader);
                    writer.setDaemon(true);
                    return writer;
                }, (task, executor) -> this.leftOut.incrementAndGet());
        this.thread.allowCoreThreadTimeOut(true);
    }

    /**
     * Queues a line to be written.
     * @param line calls a logger
     */
    @Override
    public void execute(Runnable line) {
        try {
            this.thread.execute(() -> write(line));
        }
        catch (OutOfMemoryError ex) {
            this.leftOut.incrementAndGet(); // no thread available
        }
    }

    private void write(Runnable line) {
        try {
            line.run();
        }
        catch (RuntimeException ex) {
            return; // an appender failed, so the failure cannot be logged
        }
        long count = this.leftOut.getAndSet(0);
        if (count > 0) {
            logger.warn("{} log lines of the delay queue were left out, as {} others were waiting to be written", count,
                    MAX_WAITING);
        }
    }

    /** Waits briefly until the queued lines are written, then stops writing. */
    public void close() {
        this.thread.shutdown();
        boolean interrupted = false;
        try {
            if (!this.thread.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
                this.thread.shutdownNow();
            }
        }
        catch (InterruptedException ex) {
            interrupted = true;
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

}
