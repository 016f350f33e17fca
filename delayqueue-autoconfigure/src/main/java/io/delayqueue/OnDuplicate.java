package io.delayqueue;

/** What a send does when the queue already holds a message with its id. */
public enum OnDuplicate {

    /** Leaves the message that is there as it is. */
    KEEP,

    /**
     * Replaces payload, headers, due time, priority and time to live of what is there.
     */
    REPLACE

}
