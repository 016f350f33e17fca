package io.delayqueue.engine;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import io.delayqueue.QueueName;

/**
 * The way of a message into its queue: where it may be already, and last of all where it
 * goes if it is nowhere. Messages on the same way share calls.
 *
 * @param homes at least one
 */
public record Route(List<Home> homes) {

    /** The queue. */
    public QueueName queue() {
        return this.homes.get(0).queue();
    }

    /**
     * Neither its id nor its group is anywhere yet, or they may be where an earlier
     * number of partitions put them.
     */
    static Route of(QueueName queue, Partitions partitions, NewMessage message) {
        if (message.unique() || partitions.counts().size() == 1) {
            return new Route(List.of(partitions.home(queue, message.routingKey())));
        }
        List<Home> homes = new ArrayList<>(partitions.homes(queue, message.routingKey()));
        Collections.reverse(homes);
        return new Route(homes);
    }

}
