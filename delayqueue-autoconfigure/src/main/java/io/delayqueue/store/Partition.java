package io.delayqueue.store;

import io.delayqueue.QueueName;

/**
 * A part of a queue whose messages are kept together; transitions are atomic within it. A
 * queue has one, unless it is spread over several.
 *
 * @param queue the queue
 * @param index 0 for the first; a queue with one partition has only that
 */
public record Partition(QueueName queue, int index) {

    /** Most partitions of a queue. */
    public static final int LIMIT = 256;

    public Partition {
        if (index < 0 || index >= LIMIT) {
            throw new IllegalArgumentException(
                    "Partition %d of queue '%s' is not valid: use 0 to %d".formatted(index, queue, LIMIT - 1));
        }
    }

    /** The first partition, which every queue has. */
    public static Partition first(QueueName queue) {
        return new Partition(queue, 0);
    }

    /** As people and keys name it: the queue, and the index unless it is the first. */
    @Override
    public String toString() {
        return (this.index == 0) ? this.queue.value() : this.queue.value() + ":" + this.index;
    }

}
