package io.delayqueue.listener;

import io.delayqueue.QueueName;
import io.delayqueue.engine.Partition;

/**
 * One queue of one listener.
 *
 * @param listenerId the listener
 * @param partition the queue, or the part of it, that is listened to
 * @param settings how the listener works on it
 * @param handler what to do with a message
 * @param counters the listener's counts, shared by its queues
 */
record ListenedQueue(String listenerId, Partition partition, ListenerSettings settings, MessageHandler handler,
        ListenerCounters counters) {

    /** The same listener on another partition of the queue. */
    ListenedQueue at(Partition other) {
        return new ListenedQueue(this.listenerId, other, this.settings, this.handler, this.counters);
    }

    QueueName name() {
        return this.partition.queue();
    }

}
