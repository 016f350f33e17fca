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
 * @param targets the targets, at least one
 */
public record PartitionRoute(List<PartitionTarget> targets) {

    /** Returns the queue. */
    public QueueName queue() {
        return this.targets.get(0).queue();
    }

    /**
     * Returns the current target only, if the queue cannot hold its id or group yet;
     * otherwise also the targets by previous numbers of partitions.
     */
    static PartitionRoute of(QueueName queue, PartitionLayout partitions, NewMessage message) {
        if (message.unique() || partitions.counts().size() == 1) {
            return new PartitionRoute(List.of(partitions.target(queue, message.routingKey())));
        }
        List<PartitionTarget> targets = new ArrayList<>(partitions.targets(queue, message.routingKey()));
        Collections.reverse(targets);
        return new PartitionRoute(targets);
    }

}
