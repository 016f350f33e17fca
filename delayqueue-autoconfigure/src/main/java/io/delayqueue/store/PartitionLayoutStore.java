package io.delayqueue.store;

import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.QueueName;
import io.delayqueue.StoreRefusedException;

/**
 * Where {@link PartitionLayout} are recorded: in every partition of a queue, so that it
 * can refuse who goes by an older version; what the first one has is the truth. A queue
 * that was never spread has no record. Threads and failures are as with
 * {@link MessageStore}.
 */
public interface PartitionLayoutStore {

    /** Of a store whose queues cannot be spread. */
    PartitionLayoutStore NONE = new PartitionLayoutStore() {

        @Override
        public CompletableFuture<Optional<PartitionLayout>> read(Partition partition) {
            return CompletableFuture.completedFuture(Optional.empty());
        }

        @Override
        public CompletableFuture<PartitionLayout> found(QueueName queue, int count) {
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
        public CompletableFuture<Instant> now(QueueName queue) {
            return refused();
        }

        private static <T> CompletableFuture<T> refused() {
            return CompletableFuture.failedFuture(new StoreRefusedException(
                    "This store keeps no partitions; nothing was changed", Effect.NONE, null));
        }

    };

    /** What a partition has; empty for that of a queue that was never spread. */
    CompletableFuture<Optional<PartitionLayout>> read(Partition partition);

    /**
     * Records {@code count} partitions in the first one, not complete, if nothing is
     * recorded there; the queue then has had one partition before if that holds messages.
     * @return what is recorded now
     */
    CompletableFuture<PartitionLayout> found(QueueName queue, int count);

    /**
     * Records {@code next} in the first partition if it has {@code expected}, and tells
     * workers to look.
     * @param expected empty for no record
     * @return what is recorded now
     */
    CompletableFuture<PartitionLayout> replace(QueueName queue, Optional<PartitionLayout> expected,
            PartitionLayout next);

    /** Records a version in a partition, unless that has this or a later one. */
    CompletableFuture<Void> raise(Partition partition, PartitionLayout partitions);

    /** The time of the store, rounded up to the millisecond. */
    CompletableFuture<Instant> now(QueueName queue);

}
