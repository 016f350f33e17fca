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
    NOT_FOUND

}
