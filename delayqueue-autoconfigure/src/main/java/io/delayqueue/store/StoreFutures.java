package io.delayqueue.store;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;

/** Starts calls of the store, and combines their answers. */
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

    /**
     * Starts a call that needs the answer of an earlier one. If that is known, returns
     * the future of the call itself, which costs less than to pass its answer on. Returns
     * a failed future if the earlier call has failed, or this one throws.
     */
    public static <T, U> CompletableFuture<U> then(CompletableFuture<T> earlier,
            Function<T, CompletableFuture<U>> call) {
        return earlier.isDone() ? send(() -> call.apply(earlier.join())) : earlier.thenCompose(call);
    }

    /**
     * Starts a call by an executor; returns a failed future if the call throws, or the
     * executor rejects it.
     */
    public static <T> CompletableFuture<T> send(Executor executor, Supplier<CompletableFuture<T>> call) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        try {
            executor.execute(() -> send(call).whenComplete((result, failure) -> {
                if (failure != null) {
                    answer.completeExceptionally(failure);
                }
                else {
                    answer.complete(result);
                }
            }));
        }
        catch (Throwable ex) {
            answer.completeExceptionally(ex);
        }
        return answer;
    }

    /** Returns the results of several calls in order; fails if one of them fails. */
    public static <T> CompletableFuture<List<T>> all(List<CompletableFuture<T>> answers) {
        return CompletableFuture.allOf(answers.toArray(CompletableFuture<?>[]::new))
            .thenApply((done) -> answers.stream().map(CompletableFuture::join).toList());
    }

}
