package io.delayqueue.store;

/** Lists the ends of a message that was not handled within its time to live. */
public enum ExpiryPolicy {

    /** It is removed. */
    DROP,

    /** It is dead-lettered with the cause {@code expired}. */
    DEAD_LETTER

}
