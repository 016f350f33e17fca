package io.delayqueue.memory;

import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.QueueName;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.PartitionLayoutStore;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.Pause;
import io.delayqueue.store.StaleLayoutException;
import org.jspecify.annotations.Nullable;

/**
 * Stores the layouts of partitions in this process. They are settings, which remain when
 * the messages are gone.
 * <p>
 * <strong>Threads.</strong> Any. A partition reads and changes its layout under its own
 * lock.
 */
final class MemoryPartitionLayoutStore implements PartitionLayoutStore {

    private final Map<Partition, PartitionLayout> records = new ConcurrentHashMap<>();

    private final InMemoryMessageStore store;

    private final MemoryWakeUps wakeUps;

    MemoryPartitionLayoutStore(InMemoryMessageStore store, MemoryWakeUps wakeUps) {
        this.store = store;
        this.wakeUps = wakeUps;
    }

    PartitionLayout of(Partition partition) {
        return this.records.getOrDefault(partition, PartitionLayout.ONE);
    }

    /**
     * Returns the pause of a partition; {@code null} if it is not paused. A ledger that
     * is full is paused as well, a second at a time.
     */
    @Nullable Pause pause(Partition partition, MemoryLedger ledger, long now) {
        PartitionLayout recorded = of(partition);
        Instant time = Instant.ofEpochMilli(Micros.floorToMillis(now));
        Pause pause = recorded.pause();
        if (pause != null && !pause.isOver(time)) {
            return pause;
        }
        return (recorded.ledger() && ledger.isFull()) ? new Pause(time.plusSeconds(1)) : null;
    }

    void requireUpToDate(PartitionTarget target) {
        PartitionLayout recorded = this.records.get(target.partition());
        if (recorded != null && recorded.version() > target.version()) {
            throw new StoreUnavailableException("The partitions of the queue were changed; nothing was changed",
                    Effect.NONE, new StaleLayoutException("version " + recorded.version(), recorded));
        }
    }

    @Override
    public CompletableFuture<Optional<PartitionLayout>> read(Partition partition) {
        return CompletableFuture.completedFuture(Optional.ofNullable(this.records.get(partition)));
    }

    @Override
    public CompletableFuture<PartitionLayout> establish(QueueName queue, int count) {
        return this.store
            .in(Partition.first(queue), (content, now) -> this.records.computeIfAbsent(Partition.first(queue),
                    (key) -> content.isEmpty() ? PartitionLayout.founding(count) : PartitionLayout.ONE.next(count)));
    }

    @Override
    public CompletableFuture<PartitionLayout> replace(QueueName queue, Optional<PartitionLayout> expected,
            PartitionLayout next) {
        return change(Partition.first(queue),
                (recorded) -> Optional.ofNullable(recorded).equals(expected) ? next : recorded)
            .thenApply((recorded) -> recorded.orElse(PartitionLayout.ONE));
    }

    @Override
    public CompletableFuture<Void> raise(Partition partition, PartitionLayout partitions) {
        return change(partition,
                (recorded) -> (recorded == null || recorded.version() < partitions.version()) ? partitions : recorded)
            .thenAccept((recorded) -> {
            });
    }

    /**
     * Changes a layout under the lock, so that no claim takes a message after a pause.
     */
    private CompletableFuture<Optional<PartitionLayout>> change(Partition partition,
            UnaryOperator<@Nullable PartitionLayout> change) {
        CompletableFuture<Optional<PartitionLayout>> recorded = this.store.in(partition, (content, now) -> Optional
            .ofNullable(this.records.compute(partition, (key, present) -> change.apply(present))));
        this.wakeUps.notifyListeners(partition);
        return recorded;
    }

    @Override
    public CompletableFuture<Instant> now(Partition partition) {
        return this.store.in(partition, (content, now) -> Instant.ofEpochMilli(Micros.ceilToMillis(now)));
    }

}
