package io.delayqueue.engine;

/** What becomes of a message that was not handled within its time to live. */
public enum ExpiredPolicy {

    /** It is removed. */
    DROP,

    /** It becomes a dead letter with the cause {@code expired}. */
    DEAD_LETTER

}
