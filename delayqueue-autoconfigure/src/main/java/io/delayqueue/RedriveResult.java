package io.delayqueue;

/** What a redrive did. */
public enum RedriveResult {

    /** The message is due now, with all its attempts; the dead letter is gone. */
    REDRIVEN,

    /** The queue holds another message with that id; the dead letter stays. */
    ID_IN_USE,

    /**
     * The dead letter has no message to redrive, as its content was missing; it stays.
     */
    EMPTY,

    /** There is no such dead letter. */
    NOT_FOUND

}
