package io.delayqueue.store;

import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** Starts calls of the store. */
public final class StoreFutures {

    private StoreFutures() {
    }

    /** Starts a call; returns a failed future if the call throws. */
    public static <T> CompletableFuture<T> send(Supplier<CompletableFuture<T>> call) {
        try {
            return call.get();
        }
        catch (Throwable ex) {
            return CompletableFuture.failedFuture(ex);
        }
    }

}
