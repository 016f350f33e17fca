package io.delayqueue.listener;

import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.springframework.core.task.VirtualThreadTaskExecutor;

/**
 * The threads of handlers. They have no bound of their own: the permits of the loops are
 * it. They do not keep the JVM up.
 */
final class HandlerThreads implements Executor {

    private static final String PREFIX = "delayqueue-handler-";

    private final Executor executor;

    HandlerThreads(boolean virtual) {
        this.executor = virtual ? new VirtualThreadTaskExecutor(PREFIX) : platformThreads();
    }

    private static ThreadPoolExecutor platformThreads() {
        AtomicInteger count = new AtomicInteger();
        return new ThreadPoolExecutor(0, Integer.MAX_VALUE, 60, TimeUnit.SECONDS, new SynchronousQueue<>(), (task) -> {
            Thread thread = new Thread(task, PREFIX + count.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        });
    }

    @Override
    public void execute(Runnable task) {
        this.executor.execute(task);
    }

    /** Lets threads end once what they do is done; interrupts nothing. */
    void close() {
        if (this.executor instanceof ThreadPoolExecutor pool) {
            pool.shutdown();
        }
    }

}
