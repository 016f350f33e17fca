package io.delayqueue.redis.wakeup;

/** Selects how workers learn that a message may be due earlier than they know. */
public enum WakeUpMode {

    /** The scripts publish to a channel of the queue. */
    CHANNEL,

    /**
     * Redis publishes writes to the scheduled sets. For producers that write to them
     * without this library. Needs {@code notify-keyspace-events} with {@code Kz}.
     */
    KEYSPACE,

    /** Nothing is subscribed to; workers rely on known due times and the safety poll. */
    TIMER

}
