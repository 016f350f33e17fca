package io.delayqueue.memory;

import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.QueueName;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.PartitionLayoutStore;
import io.delayqueue.store.PartitionTarget;
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

    private final Exclusively exclusively;

    private final MemoryWakeUps wakeUps;

    MemoryPartitionLayoutStore(Exclusively exclusively, MemoryWakeUps wakeUps) {
        this.exclusively = exclusively;
        this.wakeUps = wakeUps;
    }

    PartitionLayout of(Partition partition) {
        return this.records.getOrDefault(partition, PartitionLayout.ONE);
    }

    void requireUpToDate(PartitionTarget home) {
        PartitionLayout recorded = this.records.get(home.partition());
        if (recorded != null && recorded.version() > home.version()) {
            throw new StoreUnavailableException("The partitions of the queue were changed; nothing was changed",
                    Effect.NONE, new StaleLayoutException("version " + recorded.version(), recorded));
        }
    }

    @Override
    public CompletableFuture<Optional<PartitionLayout>> read(Partition partition) {
        return CompletableFuture.completedFuture(Optional.ofNullable(this.records.get(partition)));
    }

    @Override
    public CompletableFuture<PartitionLayout> found(QueueName queue, int count) {
        return this.exclusively.in(Partition.first(queue),
                (holdsMessages, now) -> this.records.computeIfAbsent(Partition.first(queue),
                        (key) -> holdsMessages ? PartitionLayout.ONE.next(count) : PartitionLayout.founding(count)));
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
        CompletableFuture<Optional<PartitionLayout>> recorded = this.exclusively.in(partition, (holdsMessages,
                now) -> Optional.ofNullable(this.records.compute(partition, (key, present) -> change.apply(present))));
        this.wakeUps.notifyListeners(partition);
        return recorded;
    }

    @Override
    public CompletableFuture<Instant> now(QueueName queue) {
        return this.exclusively.in(Partition.first(queue), (holdsMessages, now) -> now);
    }

    /** Runs an action while nothing else happens in a partition. */
    interface Exclusively {

        /**
         * Calls {@code change} with whether the partition holds anything, and the time.
         */
        <T> CompletableFuture<T> in(Partition partition, BiFunction<Boolean, Instant, T> change);

    }

}
