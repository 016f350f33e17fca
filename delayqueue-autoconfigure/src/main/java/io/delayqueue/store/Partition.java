package io.delayqueue.store;

import io.delayqueue.QueueName;

/**
 * Identifies a part of a queue whose messages are stored together. Transitions are atomic
 * within a partition. A queue has one partition unless it is repartitioned.
 *
 * @param queue the queue
 * @param index the index, from 0
 */
public record Partition(QueueName queue, int index) {

    /** Maximum number of partitions of a queue. */
    public static final int LIMIT = 256;

    public Partition {
        if (index < 0 || index >= LIMIT) {
            throw new IllegalArgumentException(
                    "Partition %d of queue '%s' is not valid: use 0 to %d".formatted(index, queue, LIMIT - 1));
        }
    }

    /** Returns the first partition, which every queue has. */
    public static Partition first(QueueName queue) {
        return new Partition(queue, 0);
    }

    /**
     * Returns its name in keys and logs: the queue, and the index unless it is the first
     * partition.
     */
    @Override
    public String toString() {
        return (this.index == 0) ? this.queue.value() : this.queue.value() + ":" + this.index;
    }

}
