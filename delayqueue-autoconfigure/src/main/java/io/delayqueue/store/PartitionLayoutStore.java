package io.delayqueue.store;

import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.QueueName;
import io.delayqueue.StoreRefusedException;

/**
 * Records the {@link PartitionLayout} of a queue in each of its partitions, so that a
 * partition can reject calls with an older version. The record of the first partition is
 * authoritative. A queue that was never partitioned has no record. Threads and failures
 * are the same as in {@link MessageStore}.
 */
public interface PartitionLayoutStore {

    /** Layout store of a message store without support for partitions. */
    PartitionLayoutStore NONE = new PartitionLayoutStore() {

        @Override
        public CompletableFuture<Optional<PartitionLayout>> read(Partition partition) {
            return CompletableFuture.completedFuture(Optional.empty());
        }

        @Override
        public CompletableFuture<PartitionLayout> establish(QueueName queue, int count) {
            return refused();
        }

        @Override
        public CompletableFuture<PartitionLayout> replace(QueueName queue, Optional<PartitionLayout> expected,
                PartitionLayout next) {
            return refused();
        }

        @Override
        public CompletableFuture<Void> raise(Partition partition, PartitionLayout partitions) {
            return refused();
        }

        @Override
        public CompletableFuture<Instant> now(Partition partition) {
            return refused();
        }

        private static <T> CompletableFuture<T> refused() {
            return CompletableFuture.failedFuture(new StoreRefusedException(
                    "This store keeps no partitions; nothing was changed", Effect.NONE, null));
        }

    };

    /**
     * Returns the record of a partition; empty for a queue that was never partitioned.
     */
    CompletableFuture<Optional<PartitionLayout>> read(Partition partition);

    /**
     * Records {@code count} partitions, not complete, in the first partition if that has
     * no record. If it holds messages, dead letters or duplicate windows, the layout
     * includes the previous number, one.
     * @return the layout that is recorded now
     */
    CompletableFuture<PartitionLayout> establish(QueueName queue, int count);

    /**
     * Records {@code next} in the first partition if it has {@code expected}, and
     * publishes a wake-up.
     * @param expected empty for no record
     * @return the layout that is recorded now
     */
    CompletableFuture<PartitionLayout> replace(QueueName queue, Optional<PartitionLayout> expected,
            PartitionLayout next);

    /** Records a version in a partition, unless it has this or a later one. */
    CompletableFuture<Void> raise(Partition partition, PartitionLayout partitions);

    /** Returns the time of a partition, rounded up to the millisecond. */
    CompletableFuture<Instant> now(Partition partition);

}
