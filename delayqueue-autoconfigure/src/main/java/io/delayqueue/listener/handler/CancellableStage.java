package io.delayqueue.listener.handler;

/**
 * Marks a {@link java.util.concurrent.CompletionStage} that completes when the handling
 * has ended, and can be cancelled before. A cancellation is a request: the handling may
 * still run for a while, and even succeed. Thread-safe.
 */
public interface CancellableStage {

    /** Requests the end of the handling. Does not wait for it. */
    void requestCancellation();

}
