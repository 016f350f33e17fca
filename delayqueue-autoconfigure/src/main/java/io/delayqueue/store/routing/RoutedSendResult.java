package io.delayqueue.store.routing;

import java.util.concurrent.CompletableFuture;

import io.delayqueue.SendResult;
import org.jspecify.annotations.Nullable;

/**
 * What became of one message of a send: either of the two.
 *
 * @param result what the store answered
 * @param failure why there is no answer; whether the message may be stored, it says
 */
public record RoutedSendResult(@Nullable SendResult result, @Nullable Throwable failure) {

    public RoutedSendResult {
        if ((result == null) == (failure == null)) {
            throw new IllegalArgumentException("There is either a result or a failure");
        }
    }

    CompletableFuture<SendResult> toFuture() {
        return (this.failure != null) ? CompletableFuture.failedFuture(this.failure)
                : CompletableFuture.completedFuture(this.result);
    }

}
