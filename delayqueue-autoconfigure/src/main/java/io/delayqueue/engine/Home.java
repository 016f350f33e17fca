package io.delayqueue.engine;

import io.delayqueue.QueueName;

/**
 * The partition that a sender takes for the place of an id, and the version of
 * {@link Partitions} that it goes by. A partition that knows a later version refuses the
 * call, which has then changed nothing: the future fails, and the cause of its exception
 * is a {@link StalePartitionsException}.
 *
 * @param partition where the message is, or would be
 * @param version the version of the record
 */
public record Home(Partition partition, int version) {

    /** The only home in a queue that was never spread. */
    public static Home first(QueueName queue) {
        return new Home(Partition.first(queue), 0);
    }

    /** The queue. */
    public QueueName queue() {
        return this.partition.queue();
    }

}
