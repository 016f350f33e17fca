package io.delayqueue.store;

import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.QueueName;

/**
 * The list of the queues that there are, which no queue holds itself: a setting, and of
 * no concern to any message. Threads and failures are as with {@link MessageStore}.
 */
public interface QueueRegistry {

    /** Of a store that keeps no list. */
    QueueRegistry NONE = new QueueRegistry() {

        @Override
        public CompletableFuture<Void> add(QueueName queue) {
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public CompletableFuture<Boolean> remove(QueueName queue) {
            return CompletableFuture.completedFuture(false);
        }

        @Override
        public CompletableFuture<List<QueueName>> list(String after, int limit) {
            return CompletableFuture.completedFuture(List.of());
        }

    };

    /** Puts a queue into the list, where it may be already. */
    CompletableFuture<Void> add(QueueName queue);

    /** Takes a queue from the list; {@code false} if it was not there. */
    CompletableFuture<Boolean> remove(QueueName queue);

    /**
     * The queues by name.
     * @param after the name behind which the list begins; empty for all
     * @param limit most queues
     */
    CompletableFuture<List<QueueName>> list(String after, int limit);

}
