package io.delayqueue.test;

import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

import io.delayqueue.QueueName;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.PartitionLayoutStore;

/**
 * Lists the calls of a store of layouts while they are pending, and wakes the loops of
 * this process after changes, such as the end of a pause.
 */
final class VirtualTimeLayoutStore implements PartitionLayoutStore {

    private final PartitionLayoutStore store;

    private final QuietDetector quietDetector;

    private final LocalWakeUps wakeUps;

    private final Set<QueueName> paused = ConcurrentHashMap.newKeySet();

    VirtualTimeLayoutStore(PartitionLayoutStore store, VirtualTimeEngine.Parts parts) {
        this.store = store;
        this.quietDetector = parts.quietDetector();
        this.wakeUps = parts.wakeUps();
    }

    @Override
    public CompletableFuture<Optional<PartitionLayout>> read(Partition partition) {
        return this.quietDetector.call("read layout", () -> this.store.read(partition), () -> {
        });
    }

    @Override
    public CompletableFuture<PartitionLayout> establish(QueueName queue, int count) {
        return this.quietDetector.call("establish layout", () -> this.store.establish(queue, count), () -> {
        });
    }

    @Override
    public CompletableFuture<PartitionLayout> replace(QueueName queue, Optional<PartitionLayout> expected,
            PartitionLayout next) {
        if (next.pause() != null) {
            this.paused.add(queue);
        }
        return this.quietDetector.call("replace layout", () -> this.store.replace(queue, expected, next),
                () -> this.wakeUps.changed(Partition.first(queue)));
    }

    /** Returns the queues that were paused since the last call of this method. */
    Set<QueueName> takePaused() {
        Set<QueueName> taken = Set.copyOf(this.paused);
        this.paused.removeAll(taken);
        return taken;
    }

    @Override
    public CompletableFuture<Void> raise(Partition partition, PartitionLayout partitions) {
        return this.quietDetector.call("raise layout", () -> this.store.raise(partition, partitions),
                () -> this.wakeUps.changed(partition));
    }

    @Override
    public CompletableFuture<Instant> now(Partition partition) {
        return this.quietDetector.call("read time", () -> this.store.now(partition), () -> {
        });
    }

}
