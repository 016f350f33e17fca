package io.delayqueue.memory;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

import io.delayqueue.MessageListing;
import io.delayqueue.QueueHorizon;
import io.delayqueue.engine.ListedMessage;
import io.delayqueue.engine.MessagePosition;
import io.delayqueue.engine.Partition;
import io.delayqueue.engine.PartitionCounts;
import io.delayqueue.engine.QueueInspector;
import org.jspecify.annotations.Nullable;

/** Looks at queues in this process. Thread-safe, as each look holds the queue's lock. */
final class MemoryQueueInspector implements QueueInspector {

    private final Look look;

    private final MemoryPartitionRecords records;

    MemoryQueueInspector(Look look, MemoryPartitionRecords records) {
        this.look = look;
        this.records = records;
    }

    @Override
    public CompletableFuture<PartitionCounts> counts(Partition partition) {
        return this.look.at(partition, (view) -> view.counts(this.records.of(partition)));
    }

    @Override
    public CompletableFuture<QueueHorizon> horizon(Partition partition) {
        return this.look.at(partition, MemoryView::horizon);
    }

    @Override
    public CompletableFuture<List<ListedMessage>> messages(Partition partition, MessageListing listing,
            @Nullable MessagePosition after, int limit) {
        return this.look.at(partition, (view) -> view.messages(listing, after, limit));
    }

    /** Looks while nothing happens in a partition. */
    interface Look {

        <T> CompletableFuture<T> at(Partition partition, Function<MemoryView, T> question);

    }

}
