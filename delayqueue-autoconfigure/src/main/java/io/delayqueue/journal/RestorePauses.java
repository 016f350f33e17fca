package io.delayqueue.journal;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

import io.delayqueue.QueueName;
import io.delayqueue.store.Pause;
import io.delayqueue.store.StoreFutures;
import io.delayqueue.store.routing.PartitionLayouts;

/**
 * Pauses queues that the store has lost until they are restored, so that their messages
 * are handled in order. Leaves queues alone that are paused already. A pause ends by
 * itself after a time, also if this process ends or the restore does not succeed.
 * <p>
 * <strong>Threads.</strong> Confined to that of the reconciler.
 */
final class RestorePauses {

    private final PartitionLayouts layouts;

    private final Duration limit;

    private final Executor thread;

    /** The pauses of queues that are being restored; empty if others paused them. */
    private final Map<QueueName, Optional<Pause>> pauses = new HashMap<>();

    /**
     * Creates the pauses.
     * @param layouts record them
     * @param limit the longest pause; zero for none
     * @param thread that of the reconciler
     */
    RestorePauses(PartitionLayouts layouts, Duration limit, Executor thread) {
        this.layouts = layouts;
        this.limit = limit;
        this.thread = thread;
    }

    /** Pauses a queue before its first restore, and not again before {@link #end}. */
    CompletableFuture<Void> begin(QueueName queue) {
        if (this.limit.isZero() || this.pauses.containsKey(queue)) {
            return CompletableFuture.completedFuture(null);
        }
        return this.layouts.pauseUnlessPaused(queue, this.limit)
            .thenAcceptAsync((pause) -> add(queue, pause), this.thread);
    }

    /** Ends the pause of a queue that was restored, unless it was changed since. */
    CompletableFuture<Void> end(QueueName queue) {
        Optional<Pause> pause = this.pauses.remove(queue);
        if (pause == null || pause.isEmpty()) {
            return CompletableFuture.completedFuture(null);
        }
        return StoreFutures.send(() -> this.layouts.resume(queue, pause.get())).whenCompleteAsync((done, failure) -> {
            if (failure != null) {
                add(queue, pause);
            }
        }, this.thread);
    }

    /** Records a pause of a queue, unless one is recorded. */
    private void add(QueueName queue, Optional<Pause> pause) {
        this.pauses.merge(queue, pause, (one, other) -> one.or(() -> other));
    }

}
