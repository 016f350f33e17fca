package io.delayqueue;

/**
 * Lists the possible outcomes of a send.
 *
 * @see DelayQueueOperations
 */
public enum SendOutcome {

    /** The message is stored. */
    SCHEDULED,

    /**
     * The queue already held a message with the id, waiting or being handled, which is
     * unchanged.
     */
    KEPT,

    /**
     * The queue already held a message with the id, which was replaced by the new one.
     */
    REPLACED,

    /**
     * The message with that id is being handled. The new one follows when the handler is
     * done, regardless of its result, and replaces a retry. The outcome of
     * {@link OnDuplicate#AFTER_CURRENT} and {@link OnDuplicate#REPLACE}, and of
     * {@link OnDuplicate#KEEP} only if the message being handled was cancelled.
     */
    AFTER_CURRENT,

    /**
     * Nothing is stored: a message with the id was handled or dead-lettered before, and
     * its {@linkplain DelayedMessage.Builder#duplicateWindow duplicate window} has not
     * ended.
     */
    DEDUPLICATED,

    /**
     * Nothing is stored yet: the message is sent after the transaction has committed, and
     * not at all if it rolls back.
     */
    DEFERRED,

    /**
     * The journal has committed the send, and the store has not answered yet. The message
     * is stored as soon as the store is available.
     */
    RECORDED

}
