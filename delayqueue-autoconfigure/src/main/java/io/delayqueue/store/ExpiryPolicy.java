package io.delayqueue.store;

/** What becomes of a message that was not handled within its time to live. */
public enum ExpiryPolicy {

    /** It is removed. */
    DROP,

    /** It becomes a dead letter with the cause {@code expired}. */
    DEAD_LETTER

}
