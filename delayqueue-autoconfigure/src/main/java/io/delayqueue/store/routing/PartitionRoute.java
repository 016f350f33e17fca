package io.delayqueue.store.routing;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import io.delayqueue.QueueName;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.PartitionTarget;

/**
 * The way of a message into its queue: where it may be already, and last of all where it
 * goes if it is nowhere. Messages on the same way share calls.
 *
 * @param homes at least one
 */
public record PartitionRoute(List<PartitionTarget> homes) {

    /** The queue. */
    public QueueName queue() {
        return this.homes.get(0).queue();
    }

    /**
     * Neither its id nor its group is anywhere yet, or they may be where an earlier
     * number of partitions put them.
     */
    static PartitionRoute of(QueueName queue, PartitionLayout partitions, NewMessage message) {
        if (message.unique() || partitions.counts().size() == 1) {
            return new PartitionRoute(List.of(partitions.home(queue, message.routingKey())));
        }
        List<PartitionTarget> homes = new ArrayList<>(partitions.homes(queue, message.routingKey()));
        Collections.reverse(homes);
        return new PartitionRoute(homes);
    }

}
