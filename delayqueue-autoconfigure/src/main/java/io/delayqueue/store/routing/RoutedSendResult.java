package io.delayqueue.store.routing;

import java.util.concurrent.CompletableFuture;

import io.delayqueue.SendResult;
import org.jspecify.annotations.Nullable;

/**
 * Holds either the result or the failure of one message of a send.
 *
 * @param result the answer of the store
 * @param failure the cause, whose effect says whether the message may be stored
 */
public record RoutedSendResult(@Nullable SendResult result, @Nullable Throwable failure) {

    public RoutedSendResult {
        if ((result == null) == (failure == null)) {
            throw new IllegalArgumentException("There is either a result or a failure");
        }
    }

    /** Returns a completed future with the result or the failure. */
    public CompletableFuture<SendResult> toFuture() {
        return (this.failure != null) ? CompletableFuture.failedFuture(this.failure)
                : CompletableFuture.completedFuture(this.result);
    }

}
