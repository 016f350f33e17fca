package io.delayqueue;

/**
 * Lists the possible results of a redrive.
 *
 * @see DeadLetterOperations
 */
public enum RedriveResult {

    /** The message is due now, with all its attempts, and the dead letter was removed. */
    REDRIVEN,

    /** The queue holds another message with that id; the dead letter stays. */
    ID_IN_USE,

    /**
     * The dead letter has no content to redrive; it stays.
     */
    EMPTY,

    /** There is no such dead letter. */
    NOT_FOUND

}
