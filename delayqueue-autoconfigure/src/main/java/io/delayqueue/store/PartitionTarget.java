package io.delayqueue.store;

import io.delayqueue.QueueName;

/**
 * The partition that a sender takes for the place of an id, and the version of
 * {@link PartitionLayout} that it goes by. A partition that knows a later version refuses
 * the call, which has then changed nothing: the future fails, and the cause of its
 * exception is a {@link StaleLayoutException}.
 *
 * @param partition where the message is, or would be
 * @param version the version of the record
 */
public record PartitionTarget(Partition partition, int version) {

    /** The only home in a queue that was never spread. */
    public static PartitionTarget first(QueueName queue) {
        return new PartitionTarget(Partition.first(queue), 0);
    }

    /** The queue. */
    public QueueName queue() {
        return this.partition.queue();
    }

}
