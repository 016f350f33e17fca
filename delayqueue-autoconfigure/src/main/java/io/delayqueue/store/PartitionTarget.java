package io.delayqueue.store;

import io.delayqueue.QueueName;
import org.jspecify.annotations.Nullable;

/**
 * Holds the partition that a sender assumes for an id, and the version of the
 * {@link PartitionLayout} that it is based on. A partition with a later version rejects
 * the call without changing anything: the future fails with an exception caused by a
 * {@link StaleLayoutException}.
 *
 * @param partition where the message is stored, or would be
 * @param version the version of the layout
 * @param offer the limits of a call of the journal; {@code null} for other callers
 */
public record PartitionTarget(Partition partition, int version, @Nullable OfferConditions offer) {

    /** Creates the target of a caller other than the journal. */
    public PartitionTarget(Partition partition, int version) {
        this(partition, version, null);
    }

    /** Returns the only target in a queue that was never partitioned. */
    public static PartitionTarget first(QueueName queue) {
        return new PartitionTarget(Partition.first(queue), 0);
    }

    /** Returns this target with the limits of a call. */
    public PartitionTarget with(@Nullable OfferConditions offer) {
        return (offer != null) ? new PartitionTarget(this.partition, this.version, offer) : this;
    }

    /** Returns the queue. */
    public QueueName queue() {
        return this.partition.queue();
    }

}
