package io.delayqueue;

/** What a send did. */
public enum SendOutcome {

    /** The message is stored. */
    SCHEDULED,

    /**
     * The queue already held the id, waiting or being handled; what it held stays as it
     * was.
     */
    KEPT,

    /** The queue already held the id; the new message took the place of the old one. */
    REPLACED,

    /**
     * The message of that id is being handled. The new one follows when that handling
     * ends, however it ends; it then takes the place of a retry. The answer of
     * {@link OnDuplicate#AFTER_CURRENT} and {@link OnDuplicate#REPLACE}, and of
     * {@link OnDuplicate#KEEP} only if the message being handled was cancelled.
     */
    AFTER_CURRENT,

    /**
     * Nothing is stored yet: the message is sent when the transaction has committed, and
     * never if it rolls back.
     */
    DEFERRED

}
