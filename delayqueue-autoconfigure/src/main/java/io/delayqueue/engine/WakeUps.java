package io.delayqueue.engine;

/**
 * Tells workers that a message may be due earlier than they know. Wake-ups may be lost:
 * who listens looks by itself from time to time.
 */
public interface WakeUps {

    /**
     * Calls {@code alarm} at every wake-up of the partition, and whenever wake-ups may
     * have been missed, as after a reconnect. Does not wait for the store and does not
     * fail if it is away.
     * @param alarm called on a thread of the store's connection: quick, and does not
     * throw
     * @return ends the calls when closed; closing twice does no harm
     */
    Subscription listen(Partition partition, Runnable alarm);

    /** A registration of an alarm. */
    interface Subscription extends AutoCloseable {

        @Override
        void close();

    }

}
