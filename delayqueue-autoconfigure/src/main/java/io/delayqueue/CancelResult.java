package io.delayqueue;

/** What a cancel did. */
public enum CancelResult {

    /** The message is removed; no handler starts with it from now on. */
    CANCELLED,

    /**
     * The message is being handled and cannot be called back. It will not be retried if
     * that handling fails, and a successor sent meanwhile is removed.
     */
    LEASED,

    /** The queue holds no message with that id. */
    NOT_FOUND

}
