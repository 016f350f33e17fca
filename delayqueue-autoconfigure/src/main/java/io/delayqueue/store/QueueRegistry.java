package io.delayqueue.store;

import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.QueueName;

/**
 * Stores the names of the queues in use. They are not part of any queue and have no
 * effect on messages. Threads and failures are the same as in {@link MessageStore}.
 */
public interface QueueRegistry {

    /** Registry of a store that does not support it. */
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

    /** Adds a queue, which may be registered already. */
    CompletableFuture<Void> add(QueueName queue);

    /** Removes a queue; returns {@code false} if it was not registered. */
    CompletableFuture<Boolean> remove(QueueName queue);

    /**
     * Returns queues, ordered by name.
     * @param after the name after which the list starts; empty for the beginning
     * @param limit maximum number of queues
     */
    CompletableFuture<List<QueueName>> list(String after, int limit);

}
