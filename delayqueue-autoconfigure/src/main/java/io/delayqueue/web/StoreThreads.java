package io.delayqueue.web;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * Makes calls of the store for those who must not wait. Where no call waits that is the
 * caller's thread; of a client that blocks, a few more threads between start and stop.
 * Thread-safe.
 */
final class StoreThreads {

    /** As many as a pool of connections has by the defaults of its clients. */
    private static final int THREADS = 8;

    private final boolean waiting;

    private volatile @Nullable ThreadPoolExecutor threads;

    /**
     * Makes them; none runs yet.
     * @param waiting whether calls of the store wait
     */
    StoreThreads(boolean waiting) {
        this.waiting = waiting;
    }

    /** Completes as the call does, or with what it threw. */
    <T> CompletableFuture<T> call(Supplier<CompletableFuture<T>> call) {
        ThreadPoolExecutor current = this.threads;
        Executor executor = (current != null) ? current : Runnable::run;
        return CompletableFuture.supplyAsync(call, executor).thenCompose(Function.identity());
    }

    void start() {
        if (this.waiting) {
            AtomicInteger count = new AtomicInteger();
            ThreadPoolExecutor created = new ThreadPoolExecutor(THREADS, THREADS, 10, TimeUnit.SECONDS,
                    new LinkedBlockingQueue<>(), (task) -> {
                        Thread thread = new Thread(task, "delayqueue-web-store-" + count.incrementAndGet());
                        thread.setDaemon(true);
                        return thread;
                    }, (task, ended) -> task.run());
            created.allowCoreThreadTimeOut(true);
            this.threads = created;
        }
    }

    /** What was asked for before is still done. */
    void stop() {
        ThreadPoolExecutor last = this.threads;
        this.threads = null;
        if (last != null) {
            last.shutdown();
        }
    }

}
