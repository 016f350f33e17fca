package io.delayqueue.store;

/**
 * Notifies listeners that a message may be due earlier than they expect. Wake-ups may be
 * lost, so every listener also polls at an interval.
 */
public interface WakeUps {

    /**
     * Notifies {@code listener} of every wake-up of the partition, and also when wake-ups
     * may have been missed, for example after a reconnect. Does not wait for the store,
     * and does not fail if it is unavailable.
     * @return the subscription, which ends when closed; closing it twice has no effect
     */
    Subscription listen(Partition partition, Listener listener);

    /**
     * Returns whether signals about primary pollers are published. If not, every node
     * polls without delay.
     */
    default boolean announcesPrimaryPollers() {
        return false;
    }

    /**
     * Returns whether wake-ups of the partition are received, as far as is known: there
     * is a listener and the subscription is active, or no subscription is needed.
     */
    default boolean isSubscribed(Partition partition) {
        return true;
    }

    /** Receives wake-ups. */
    @FunctionalInterface
    interface Listener {

        /**
         * Handles a wake-up on a thread of the store's connection. Must not block or
         * throw.
         */
        void onWakeUp(WakeUpSignal signal);

    }

    /** Represents the registration of a listener. */
    interface Subscription extends AutoCloseable {

        @Override
        void close();

    }

}
