package io.delayqueue;

/**
 * Lists the possible results of a cancel.
 *
 * @see DelayQueueOperations#cancel
 */
public enum CancelResult {

    /** The message was removed; no handler starts with it from now on. */
    CANCELLED,

    /**
     * The message is being handled, which is not interrupted. It will not be retried if
     * the handler fails, and a successor sent in the meantime is removed.
     */
    LEASED,

    /** The queue holds no message with that id. */
    NOT_FOUND,

    /**
     * Nothing has changed yet: the cancel takes effect after the transaction has
     * committed, and not at all if it rolls back. Only for queues with a journal.
     */
    DEFERRED,

    /**
     * The journal has committed the cancel, and the store has not answered yet. Only for
     * queues with a journal.
     */
    RECORDED

}
