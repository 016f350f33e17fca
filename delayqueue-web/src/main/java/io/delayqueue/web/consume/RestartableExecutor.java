package io.delayqueue.web.consume;

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
 * Runs tasks on a thread pool that exists between start and stop. Otherwise, or if the
 * pool has no threads, the calling thread runs them. One makes blocking calls of the
 * store, and one reads claimed messages. Thread-safe.
 */
final class RestartableExecutor implements Executor {

    private static final int IDLE_SECONDS = 10;

    private final String name;

    private final int size;

    private volatile @Nullable ThreadPoolExecutor threads;

    /**
     * Creates the executor; no thread runs yet.
     * @param name prefix of the thread names
     * @param size how many; 0 for none
     */
    RestartableExecutor(String name, int size) {
        this.name = name;
        this.size = size;
    }

    @Override
    public void execute(Runnable task) {
        ThreadPoolExecutor current = this.threads;
        if (current != null) {
            current.execute(task);
        }
        else {
            task.run();
        }
    }

    /** Runs a call, and completes with its result or failure. */
    <T> CompletableFuture<T> call(Supplier<CompletableFuture<T>> call) {
        return CompletableFuture.supplyAsync(call, this).thenCompose(Function.identity());
    }

    void start() {
        if (this.size > 0) {
            AtomicInteger count = new AtomicInteger();
            ThreadPoolExecutor created = new ThreadPoolExecutor(this.size, this.size, IDLE_SECONDS, TimeUnit.SECONDS,
                    new LinkedBlockingQueue<>(), (task) -> {
                        Thread thread = new Thread(task, this.name + count.incrementAndGet());
                        thread.setDaemon(true);
                        return thread;
                    }, (task, ended) -> task.run());
            created.allowCoreThreadTimeOut(true);
            this.threads = created;
        }
    }

    /** Stops the threads once they have run the submitted work. */
    void stop() {
        ThreadPoolExecutor last = this.threads;
        this.threads = null;
        if (last != null) {
            last.shutdown();
        }
    }

}
