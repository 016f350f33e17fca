package io.delayqueue.store;

/** Decides what happens to a message that was not handled within its time to live. */
public enum ExpiryPolicy {

    /** It is removed. */
    DROP,

    /** It is dead-lettered with the cause {@code expired}. */
    DEAD_LETTER

}
