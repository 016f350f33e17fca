package io.delayqueue.store;

/**
 * Tells workers that a message may be due earlier than they know. Wake-ups may be lost:
 * who listens looks by itself from time to time.
 */
public interface WakeUps {

    /**
     * Tells {@code listener} of every wake-up of the partition, and to look whenever
     * wake-ups may have been missed, as after a reconnect. Does not wait for the store
     * and does not fail if it is away.
     * @return ends the calls when closed; closing twice does no harm
     */
    Subscription listen(Partition partition, Listener listener);

    /**
     * Whether it tells who keeps a partition. Where it does not, everybody hurries.
     */
    default boolean tellsOfKeepers() {
        return false;
    }

    /**
     * Whether wake-ups of the partition are heard, as far as is known: somebody listens
     * to it and the subscription stands, or there is nothing to subscribe to.
     */
    default boolean isHeard(Partition partition) {
        return true;
    }

    /** Who is told. */
    @FunctionalInterface
    interface Listener {

        /**
         * Takes notice of a wake-up, on a thread of the store's connection: quickly, and
         * without throwing.
         */
        void heard(WakeUpSignal signal);

    }

    /** A registration of a listener. */
    interface Subscription extends AutoCloseable {

        @Override
        void close();

    }

}
