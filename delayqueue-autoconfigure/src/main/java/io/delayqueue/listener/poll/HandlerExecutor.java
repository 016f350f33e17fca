package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.delayqueue.store.LogExecutor;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.VirtualThreadTaskExecutor;

/**
 * Starts each handler at once, without a queue: on a daemon thread of its own, or on an
 * executor of the application. The permits of {@link HandlerConcurrencyLimiter} limit
 * their number. Where calls of the store block, also runs the iterations of all loops, on
 * a few more threads.
 * <p>
 * Threads use the context class loader of the thread that created this object, not of the
 * thread that starts them, which may be the client's; platform threads do not inherit
 * thread-locals.
 */
public final class HandlerExecutor implements Executor {

    private static final String PREFIX = "delayqueue-handler-";

    /** The default size of the clients' connection pools. */
    private static final int STORE_THREADS = 8;

    private final Executor handlers;

    private final boolean shared;

    /** {@code null} if iterations run in the calling thread. */
    private final @Nullable Executor storeThreads;

    private final Executor log;

    /** Starts a thread for each task. */
    private final Executor extra;

    private final ConcurrentMap<HandlerTask, HandlerCall> running = new ConcurrentHashMap<>();

    /** Tasks of interrupted handlers whose messages are not settled yet. */
    private final Set<HandlerTask> interrupted = ConcurrentHashMap.newKeySet();

    private final CountDownLatch allSettled = new CountDownLatch(1);

    private volatile boolean stopping;

    /** Whether all running handlers were interrupted. */
    private volatile boolean allInterrupted;

    /**
     * Creates the executor without starting threads.
     * @param virtual whether handlers run on virtual threads
     * @param blocking whether calls of the store block
     * @param application runs handlers in place of threads made here
     */
    public HandlerExecutor(boolean virtual, boolean blocking, @Nullable Executor application) {
        this((application != null) ? (task) -> submit(application, task)
                : virtual ? virtualThreads()
                        : new ThreadPoolExecutor(0, Integer.MAX_VALUE, 60, TimeUnit.SECONDS, new SynchronousQueue<>(),
                                named(PREFIX)),
                application != null, blocking ? newStoreThreads() : null, new LogExecutor(), extraThreads());
    }

    HandlerExecutor(Executor handlers, boolean shared, @Nullable Executor storeThreads, Executor log, Executor extra) {
        this.handlers = handlers;
        this.shared = shared;
        this.storeThreads = storeThreads;
        this.log = log;
        this.extra = extra;
    }

    private static Executor newStoreThreads() {
        ThreadPoolExecutor threads = new ThreadPoolExecutor(STORE_THREADS, STORE_THREADS, 60, TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(), named("delayqueue-loop-"));
        threads.allowCoreThreadTimeOut(true);
        return threads;
    }

    private static Executor virtualThreads() {
        Executor threads = new VirtualThreadTaskExecutor(PREFIX);
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        return (task) -> threads.execute(() -> {
            Thread.currentThread().setContextClassLoader(loader);
            task.run();
        });
    }

    private static Executor extraThreads() {
        ThreadFactory threads = named(PREFIX + "extra-");
        return (task) -> threads.newThread(task).start();
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

    /**
     * Submits a task to an executor of the application. Rejects tasks that it would run
     * in the calling thread, as {@code CallerRunsPolicy} does: that may be the thread of
     * the store's connection, and a handler on it would wait forever for an answer.
     */
    private static void submit(Executor application, Runnable task) {
        // Only the submitting thread writes the elements or is affected by them.
        @Nullable Thread[] caller = { Thread.currentThread() };
        boolean[] rejected = { false };
        application.execute(() -> {
            if (caller[0] == Thread.currentThread()) {
                rejected[0] = true;
                throw rejection();
            }
            task.run();
        });
        caller[0] = null;
        if (rejected[0]) {
            // A decorator of the executor may have caught the exception.
            throw rejection();
        }
    }

    private static RejectedExecutionException rejection() {
        return new RejectedExecutionException("The executor runs tasks in the calling thread");
    }

    @Override
    public void execute(Runnable task) {
        this.handlers.execute(task);
    }

    /**
     * Runs a task that may wait for the store, whatever an executor of the application
     * throws: on an extra thread if it is rejected, as the calling thread may be that of
     * the store's connection, which would never receive the answer. Without that thread,
     * blocking the caller is better than losing the task and its permit.
     */
    void executeAnyway(Runnable task) {
        try {
            executeElsewhere(task);
        }
        catch (Throwable ex) {
            task.run();
        }
    }

    /**
     * Runs a task on another thread: on an extra one if it is rejected.
     * @throws RuntimeException or an error if there is none either
     */
    void executeElsewhere(Runnable task) {
        try {
            execute(task);
        }
        catch (Throwable ex) {
            this.extra.execute(task);
        }
    }

    /**
     * Returns whether the application uses these threads for other tasks. Then each
     * message is a task of its own, and no thread continues with the next message.
     */
    boolean isShared() {
        return this.shared;
    }

    /**
     * Runs an iteration of a loop or a round of renewals: in the calling thread, unless
     * calls of the store block.
     */
    public void runStoreTask(Runnable task) {
        if (this.storeThreads != null) {
            this.storeThreads.execute(task);
        }
        else {
            task.run();
        }
    }

    /** Writes a log line without blocking the caller, even if an appender blocks. */
    public void log(Runnable line) {
        this.log.execute(line);
    }

    /**
     * Registers a handler that starts, so that a stop can interrupt it. Interrupts it if
     * a stop has begun, which then waits for it too.
     */
    void handlerStarted(HandlerTask task, HandlerCall handler) {
        this.running.put(task, handler);
        if (this.stopping) {
            this.interrupted.add(task);
            if (!handler.interrupt()) {
                settled(task);
            }
        }
    }

    /** Unregisters a handler, once its messages are settled or left to their leases. */
    void handlerEnded(HandlerTask task) {
        this.running.remove(task);
        settled(task);
    }

    private void settled(HandlerTask task) {
        this.interrupted.remove(task);
        if (this.allInterrupted && this.interrupted.isEmpty()) {
            this.allSettled.countDown();
        }
    }

    /** Returns the handlers that run now, those with pending futures included. */
    Collection<HandlerCall> running() {
        return this.running.values();
    }

    /**
     * Interrupts the handlers that outlive a stop and run on a thread, not those whose
     * futures are pending: a hanging one would keep its thread, and thus the class loader
     * of an application that is restarted in the same JVM. Then waits until the messages
     * of those that heed it, or had ended before, are settled.
     * @param limit longest time to wait
     */
    public void interruptHandlers(Duration limit) throws InterruptedException {
        this.stopping = true; // so that one that is not found is interrupted when it
                              // starts
        this.running.forEach((task, handler) -> {
            this.interrupted.add(task);
            // Its messages may have been settled since it was found.
            if (!handler.interrupt() || !this.running.containsKey(task)) {
                this.interrupted.remove(task);
            }
        });
        this.allInterrupted = true;
        if (!this.interrupted.isEmpty()) {
            this.allSettled.await(Nanos.of(limit), TimeUnit.NANOSECONDS);
        }
    }

    /** Ends the threads after their current tasks. */
    public void close() {
        for (Executor threads : Arrays.asList(this.handlers, this.storeThreads)) {
            if (threads instanceof ThreadPoolExecutor pool) {
                pool.shutdown();
            }
        }
        if (this.log instanceof LogExecutor background) {
            background.close();
        }
    }

}
