package io.delayqueue.store;

import io.delayqueue.QueueName;

/**
 * Holds the partition that a sender assumes for an id, and the version of the
 * {@link PartitionLayout} that it is based on. A partition with a later version rejects
 * the call without changing anything: the future fails with an exception caused by a
 * {@link StaleLayoutException}.
 *
 * @param partition where the message is stored, or would be
 * @param version the version of the layout
 */
public record PartitionTarget(Partition partition, int version) {

    /** Returns the only target in a queue that was never partitioned. */
    public static PartitionTarget first(QueueName queue) {
        return new PartitionTarget(Partition.first(queue), 0);
    }

    /** Returns the queue. */
    public QueueName queue() {
        return this.partition.queue();
    }

}
