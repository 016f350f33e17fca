package io.delayqueue.redis.wakeup;

/**
 * Subscribes queues on as few connections as possible, and retries by itself until it is
 * closed. Notifies a queue of messages, confirmations and losses.
 */
interface TopicSubscription extends AutoCloseable {

    /** Subscribes one more queue, soon. */
    void add(PartitionSubscription queue);

    /** Unsubscribes a queue, soon. */
    void remove(PartitionSubscription queue);

    /**
     * Ends the subscription: soon, or, if Redis is away, when the connection ends. May
     * wait a short time for that.
     */
    @Override
    void close();

}
