package io.delayqueue.redis.wakeup;

/**
 * Subscribes partitions to their wake-ups, on as few connections as possible. Connects
 * again after a loss, until it is closed. Notifies the {@link PartitionListeners} of
 * wake-ups, confirmed subscriptions and losses.
 */
interface WakeUpConnection extends AutoCloseable {

    /** Subscribes one more queue, soon. */
    void add(PartitionListeners queue);

    /** Unsubscribes a queue, soon. */
    void remove(PartitionListeners queue);

    /**
     * Ends the subscription: soon, or, if Redis is away, when the connection ends. May
     * wait a short time for that.
     */
    @Override
    void close();

}
