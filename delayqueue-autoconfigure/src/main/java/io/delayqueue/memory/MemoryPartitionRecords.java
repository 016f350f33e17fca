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
import io.delayqueue.engine.Home;
import io.delayqueue.engine.Partition;
import io.delayqueue.engine.PartitionRecords;
import io.delayqueue.engine.Partitions;
import io.delayqueue.engine.StalePartitionsException;
import org.jspecify.annotations.Nullable;

/**
 * Records of partitions in this process. Settings: they stay when the messages are gone.
 * <p>
 * <strong>Threads.</strong> Any. A partition looks at its record, and changes it, under
 * its own lock.
 */
final class MemoryPartitionRecords implements PartitionRecords {

    private final Map<Partition, Partitions> records = new ConcurrentHashMap<>();

    private final Exclusively exclusively;

    private final Alarms alarms;

    MemoryPartitionRecords(Exclusively exclusively, Alarms alarms) {
        this.exclusively = exclusively;
        this.alarms = alarms;
    }

    Partitions of(Partition partition) {
        return this.records.getOrDefault(partition, Partitions.ONE);
    }

    void requireUpToDate(Home home) {
        Partitions recorded = this.records.get(home.partition());
        if (recorded != null && recorded.version() > home.version()) {
            throw new StoreUnavailableException("The partitions of the queue were changed; nothing was changed",
                    Effect.NONE, new StalePartitionsException("version " + recorded.version(), recorded));
        }
    }

    @Override
    public CompletableFuture<Optional<Partitions>> read(Partition partition) {
        return CompletableFuture.completedFuture(Optional.ofNullable(this.records.get(partition)));
    }

    @Override
    public CompletableFuture<Partitions> found(QueueName queue, int count) {
        return this.exclusively.in(Partition.first(queue),
                (holdsMessages, now) -> this.records.computeIfAbsent(Partition.first(queue),
                        (key) -> holdsMessages ? Partitions.ONE.next(count) : Partitions.founding(count)));
    }

    @Override
    public CompletableFuture<Partitions> replace(QueueName queue, Optional<Partitions> expected, Partitions next) {
        return change(Partition.first(queue),
                (recorded) -> Optional.ofNullable(recorded).equals(expected) ? next : recorded)
            .thenApply((recorded) -> recorded.orElse(Partitions.ONE));
    }

    @Override
    public CompletableFuture<Void> raise(Partition partition, Partitions partitions) {
        return change(partition,
                (recorded) -> (recorded == null || recorded.version() < partitions.version()) ? partitions : recorded)
            .thenAccept((recorded) -> {
            });
    }

    /** No claim goes on meanwhile, so that none takes a message after a pause. */
    private CompletableFuture<Optional<Partitions>> change(Partition partition,
            UnaryOperator<@Nullable Partitions> change) {
        CompletableFuture<Optional<Partitions>> recorded = this.exclusively.in(partition, (holdsMessages,
                now) -> Optional.ofNullable(this.records.compute(partition, (key, present) -> change.apply(present))));
        this.alarms.ring(partition);
        return recorded;
    }

    @Override
    public CompletableFuture<Instant> now(QueueName queue) {
        return this.exclusively.in(Partition.first(queue), (holdsMessages, now) -> now);
    }

    /** Does something while nothing else happens in a partition. */
    interface Exclusively {

        /** What to do is told whether the partition holds anything, and the time. */
        <T> CompletableFuture<T> in(Partition partition, BiFunction<Boolean, Instant, T> change);

    }

}
