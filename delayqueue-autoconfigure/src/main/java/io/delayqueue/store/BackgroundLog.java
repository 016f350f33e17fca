package io.delayqueue.store;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes log lines on a thread of its own, for callers that must not be blocked, such as
 * a client's event loop: an appender may block, and would stall every call of the
 * application. A bounded number of lines waits; those beyond it are counted and left out.
 * <p>
 * <strong>Threads.</strong> Any. The thread, {@code delayqueue-log}, exists while there
 * is something to write and a few seconds longer.
 */
public final class BackgroundLog implements Executor {

    private static final Logger logger = LoggerFactory.getLogger(BackgroundLog.class);

    private static final int MOST_WAITING = 1_000;

    private static final long IDLE_SECONDS = 5;

    private static final long CLOSE_SECONDS = 1;

    private final ThreadPoolExecutor thread;

    private final AtomicLong leftOut = new AtomicLong();

    public BackgroundLog() {
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        this.thread = new ThreadPoolExecutor(1, 1, IDLE_SECONDS, TimeUnit.SECONDS,
                new ArrayBlockingQueue<>(MOST_WAITING), (task) -> {
                    Thread writer = new Thread(null, task, "delayqueue-log", 0, false);
                    writer.setContextClassLoader(loader);
                    writer.setDaemon(true);
                    return writer;
                }, (task, executor) -> this.leftOut.incrementAndGet());
        this.thread.allowCoreThreadTimeOut(true);
    }

    /**
     * Writes a line soon.
     * @param line calls a logger
     */
    @Override
    public void execute(Runnable line) {
        try {
            this.thread.execute(() -> write(line));
        }
        catch (OutOfMemoryError ex) {
            this.leftOut.incrementAndGet(); // no thread to be had
        }
    }

    private void write(Runnable line) {
        try {
            line.run();
        }
        catch (RuntimeException ex) {
            return; // an appender failed, so there is nobody to report it to
        }
        long count = this.leftOut.getAndSet(0);
        if (count > 0) {
            logger.warn("{} log lines of the delay queue were left out, as {} others were waiting to be written", count,
                    MOST_WAITING);
        }
    }

    /** Waits, though not for long, until what waits is written; then writes no more. */
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
