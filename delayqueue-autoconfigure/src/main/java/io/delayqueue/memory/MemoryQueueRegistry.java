package io.delayqueue.memory;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListSet;

import io.delayqueue.QueueName;
import io.delayqueue.store.QueueRegistry;

/** Holds the list of queues in this process. Thread-safe. */
final class MemoryQueueRegistry implements QueueRegistry {

    private final ConcurrentSkipListSet<String> names = new ConcurrentSkipListSet<>();

    @Override
    public CompletableFuture<Void> add(QueueName queue) {
        this.names.add(queue.value());
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public CompletableFuture<Boolean> remove(QueueName queue) {
        return CompletableFuture.completedFuture(this.names.remove(queue.value()));
    }

    void clear() {
        this.names.clear();
    }

    @Override
    public CompletableFuture<List<QueueName>> list(String after, int limit) {
        return CompletableFuture
            .completedFuture(this.names.tailSet(after, false).stream().limit(limit).map(QueueName::new).toList());
    }

}
