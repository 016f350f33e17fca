package io.delayqueue.memory;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

import io.delayqueue.admin.DueForecast;
import io.delayqueue.admin.MessageSelection;
import io.delayqueue.store.ListedMessage;
import io.delayqueue.store.MessageCursor;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionCounts;
import io.delayqueue.store.QueueInspector;
import org.jspecify.annotations.Nullable;

/** Reads queues in this process. Thread-safe, as each read holds the queue's lock. */
final class MemoryQueueInspector implements QueueInspector {

    private final Look look;

    private final MemoryPartitionLayoutStore records;

    MemoryQueueInspector(Look look, MemoryPartitionLayoutStore records) {
        this.look = look;
        this.records = records;
    }

    @Override
    public CompletableFuture<PartitionCounts> counts(Partition partition) {
        return this.look.at(partition, (view) -> view.counts(this.records.of(partition)));
    }

    @Override
    public CompletableFuture<DueForecast> horizon(Partition partition) {
        return this.look.at(partition, MemoryQueueView::horizon);
    }

    @Override
    public CompletableFuture<List<ListedMessage>> messages(Partition partition, MessageSelection listing,
            @Nullable MessageCursor after, int limit) {
        return this.look.at(partition, (view) -> view.messages(listing, after, limit));
    }

    /** Reads a partition while nothing else happens in it. */
    interface Look {

        <T> CompletableFuture<T> at(Partition partition, Function<MemoryQueueView, T> question);

    }

}
