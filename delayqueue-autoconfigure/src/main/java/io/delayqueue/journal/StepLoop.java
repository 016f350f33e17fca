package io.delayqueue.journal;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * Runs a step repeatedly, each time after the calls of the previous one have ended.
 */
final class StepLoop {

    private StepLoop() {
    }

    /**
     * Runs a step repeatedly on a thread, each time after the calls of the previous step
     * have ended.
     * @param thread runs each step
     * @param step starts calls and returns their end; {@code null} after the last step
     * @return the end of the last step; fails if a step throws or its calls fail
     */
    static CompletableFuture<Void> run(Executor thread, Supplier<@Nullable CompletableFuture<?>> step) {
        CompletableFuture<Void> end = new CompletableFuture<>();
        thread.execute(() -> next(thread, step, end));
        return end;
    }

    private static void next(Executor thread, Supplier<@Nullable CompletableFuture<?>> step,
            CompletableFuture<Void> end) {
        try {
            CompletableFuture<?> calls = step.get();
            if (calls == null) {
                end.complete(null);
                return;
            }
            calls.whenComplete((done, failure) -> {
                if (failure != null) {
                    end.completeExceptionally(failure);
                }
                else {
                    thread.execute(() -> next(thread, step, end));
                }
            });
        }
        catch (Throwable ex) {
            end.completeExceptionally(ex);
        }
    }

}
