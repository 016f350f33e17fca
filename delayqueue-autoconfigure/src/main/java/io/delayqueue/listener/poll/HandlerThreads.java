package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.delayqueue.store.BackgroundLog;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.VirtualThreadTaskExecutor;

/**
 * Provides daemon threads for handlers, or delegates to an executor of the application.
 * The permits of {@link HandlerPermits} limit their number. Threads use the context class
 * loader of the thread that created this object, not of the thread that starts them,
 * which may be the client's; platform threads do not inherit thread-locals. Where calls
 * of the store block, a few more threads run the turns of all loops.
 */
public final class HandlerThreads implements HandlerExecutor {

    private static final String PREFIX = "delayqueue-handler-";

    /** The default size of the clients' connection pools. */
    private static final int TURNS = 8;

    private final Executor executor;

    private final @Nullable ThreadPoolExecutor turns;

    private final RunningHandlers running = new RunningHandlers();

    private final BackgroundLog log = new BackgroundLog();

    private final boolean shared;

    /**
     * Creates the executor without starting threads.
     * @param virtual whether handlers run on virtual threads
     * @param waiting whether calls of the store wait
     */
    public HandlerThreads(boolean virtual, boolean waiting) {
        this(virtual, waiting, null);
    }

    /**
     * Creates the executor without starting threads.
     * @param virtual whether handlers run on virtual threads
     * @param waiting whether calls of the store wait
     * @param application runs handlers in place of threads made here
     */
    public HandlerThreads(boolean virtual, boolean waiting, @Nullable Executor application) {
        this.shared = application != null;
        this.executor = (application != null) ? new ApplicationExecutor(application) : ownThreads(virtual);
        this.turns = waiting ? new ThreadPoolExecutor(TURNS, TURNS, 60, TimeUnit.SECONDS, new LinkedBlockingQueue<>(),
                named("delayqueue-loop-")) : null;
        if (this.turns != null) {
            this.turns.allowCoreThreadTimeOut(true);
        }
    }

    private static Executor ownThreads(boolean virtual) {
        return virtual ? virtualThreads() : new ThreadPoolExecutor(0, Integer.MAX_VALUE, 60, TimeUnit.SECONDS,
                new SynchronousQueue<>(), named(PREFIX));
    }

    private static Executor virtualThreads() {
        Executor threads = new VirtualThreadTaskExecutor(PREFIX);
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        return (task) -> threads.execute(() -> {
            Thread.currentThread().setContextClassLoader(loader);
            task.run();
        });
    }

    private static ThreadFactory named(String prefix) {
        AtomicInteger count = new AtomicInteger();
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        return (task) -> {
            Thread thread = new Thread(null, task, prefix + count.incrementAndGet(), 0, false);
            thread.setContextClassLoader(loader);
            thread.setDaemon(true);
            return thread;
        };
    }

    @Override
    public void execute(Runnable task) {
        this.executor.execute(task);
    }

    @Override
    public boolean areShared() {
        return this.shared;
    }

    @Override
    public void turn(Runnable task) {
        if (this.turns != null) {
            this.turns.execute(task);
        }
        else {
            task.run();
        }
    }

    @Override
    public void began(InFlightMessage lease, HandlerTimeout handler) {
        this.running.began(lease, handler);
    }

    @Override
    public void ended(InFlightMessage lease) {
        this.running.ended(lease);
    }

    @Override
    public void log(Runnable line) {
        this.log.execute(line);
    }

    /** Interrupts running handlers and waits briefly for them. */
    public void interrupt(Duration limit) throws InterruptedException {
        this.running.interrupt(limit);
    }

    /** Ends the threads after their current tasks. */
    public void close() {
        if (this.executor instanceof ThreadPoolExecutor pool) {
            pool.shutdown();
        }
        if (this.turns != null) {
            this.turns.shutdown();
        }
        this.log.close();
    }

}
