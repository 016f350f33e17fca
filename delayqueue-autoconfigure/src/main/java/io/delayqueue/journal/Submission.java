package io.delayqueue.journal;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.StoreUnavailableException;
import org.jspecify.annotations.Nullable;

/**
 * Holds a request of this node that its relay is to apply.
 *
 * @param revision its row; 0 if it is to be inserted
 * @param request the request, if it is to be inserted
 * @param insertedAt when its insert began, in nanoseconds of the monotonic clock
 * @param answer completed with the answer of the store, or empty
 * @param recorded completed once the row is inserted
 */
record Submission(long revision, @Nullable JournalRequest request, long insertedAt,
        CompletableFuture<Optional<Object>> answer, CompletableFuture<Void> recorded) {

    /** Creates a request that has a row. */
    static Submission of(long revision, long insertedAt) {
        return new Submission(revision, null, insertedAt, new CompletableFuture<>(),
                CompletableFuture.completedFuture(null));
    }

    /** Creates a request that has no row yet. */
    static Submission of(JournalRequest request) {
        return new Submission(0, request, System.nanoTime(), new CompletableFuture<>(), new CompletableFuture<>());
    }

    /** Returns this request with its row. */
    Submission inserted(long row) {
        this.recorded.complete(null);
        return new Submission(row, null, System.nanoTime(), this.answer, this.recorded);
    }

    /** Leaves the request to a later search, unless it has an answer or no row. */
    void leave() {
        if (this.request == null) {
            this.answer.complete(Optional.empty());
        }
        else {
            this.recorded.completeExceptionally(new StoreUnavailableException(
                    "The journal has too many requests, or ends; nothing was recorded", Effect.NONE, null));
        }
    }

}
