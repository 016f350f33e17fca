package io.delayqueue.store.routing;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import io.delayqueue.QueueName;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.PartitionTarget;

/**
 * Holds the targets to try for a message in order: those that may hold it already, and
 * last the one that stores it otherwise. Messages with the same route share calls.
 *
 * @param homes the targets, at least one
 */
public record PartitionRoute(List<PartitionTarget> homes) {

    /** Returns the queue. */
    public QueueName queue() {
        return this.homes.get(0).queue();
    }

    /**
     * Returns the current target only, if the queue cannot hold its id or group yet;
     * otherwise also the targets by previous numbers of partitions.
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
