package io.delayqueue.listener;

import io.delayqueue.QueueName;

/**
 * One queue of one listener.
 *
 * @param listenerId the listener
 * @param name the queue
 * @param settings how the listener works on it
 * @param handler what to do with a message
 * @param counters the listener's counts, shared by its queues
 */
record ListenedQueue(String listenerId, QueueName name, ListenerSettings settings, MessageHandler handler,
        ListenerCounters counters) {
}
