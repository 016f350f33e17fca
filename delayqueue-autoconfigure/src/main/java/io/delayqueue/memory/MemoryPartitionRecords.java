package io.delayqueue.memory;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
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
 * <strong>Threads.</strong> Any. The map changes one record at a time. A partition looks
 * at its record under its own lock; a record that changes meanwhile is seen by the next
 * call, as if that had been first.
 */
final class MemoryPartitionRecords implements PartitionRecords {

    private final Map<Partition, Partitions> records = new ConcurrentHashMap<>();

    private final Exclusively exclusively;

    private final Alarms alarms;

    MemoryPartitionRecords(Exclusively exclusively, Alarms alarms) {
        this.exclusively = exclusively;
        this.alarms = alarms;
    }

    int versionOf(Partition partition) {
        Partitions recorded = this.records.get(partition);
        return (recorded != null) ? recorded.version() : 0;
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
                (holdsMessages) -> this.records.computeIfAbsent(Partition.first(queue),
                        (key) -> holdsMessages ? Partitions.ONE.next(count) : Partitions.founding(count)));
    }

    @Override
    public CompletableFuture<Partitions> replace(QueueName queue, Optional<Partitions> expected, Partitions next) {
        return change(Partition.first(queue),
                (recorded) -> Optional.ofNullable(recorded).equals(expected) ? next : recorded)
            .thenApply((recorded) -> (recorded != null) ? recorded : Partitions.ONE);
    }

    @Override
    public CompletableFuture<Void> raise(Partition partition, Partitions partitions) {
        return change(partition,
                (recorded) -> (recorded == null || recorded.version() < partitions.version()) ? partitions : recorded)
            .thenAccept((recorded) -> {
            });
    }

    private CompletableFuture<Partitions> change(Partition partition, UnaryOperator<@Nullable Partitions> change) {
        Partitions recorded = this.records.compute(partition, (key, present) -> change.apply(present));
        this.alarms.ring(partition);
        return CompletableFuture.completedFuture(recorded);
    }

    /** Does something while nothing else happens in a partition. */
    interface Exclusively {

        /** What to do is told whether the partition holds anything. */
        CompletableFuture<Partitions> in(Partition partition, Function<Boolean, Partitions> change);

    }

}
