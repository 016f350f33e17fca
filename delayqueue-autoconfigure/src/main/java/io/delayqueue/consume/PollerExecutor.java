package io.delayqueue.consume;

import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** Runs the work of a {@link QueuePoller}: its own tasks on one thread, in order. */
public interface PollerExecutor {

    /** Runs a task of the poller; returns {@code false} if the thread has ended. */
    boolean execute(Runnable task);

    /** Runs a task of the poller later; returns its cancellation. */
    Runnable schedule(Runnable task, long nanos);

    /** Makes a call of the store, which may block. */
    default <T> CompletableFuture<T> call(Supplier<CompletableFuture<T>> call) {
        return call.get();
    }

    /**
     * Runs a task that reads claimed messages, which may be large, or publishes events;
     * returns {@code false} if the thread has ended.
     */
    boolean read(Runnable task);

    /** Called on the thread when the poller has no requests. */
    default void idle() {
    }

}
