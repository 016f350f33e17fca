package io.delayqueue.redis.wakeup;

/** How workers learn that a message may be due earlier than they know. */
public enum WakeUpMode {

    /** The scripts publish to a channel of the queue. */
    CHANNEL,

    /**
     * Redis tells of writes to the scheduled sets. For producers that write to them
     * without this library. Needs {@code notify-keyspace-events} with {@code Kz}.
     */
    KEYSPACE,

    /**
     * Nothing is subscribed to; workers go by due times they know, and the safety poll.
     */
    TIMER

}
