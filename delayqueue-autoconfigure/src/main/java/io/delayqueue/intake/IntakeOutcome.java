package io.delayqueue.intake;

/** Describes how intake has treated a message of a broker. */
public enum IntakeOutcome {

    /** It is stored. */
    SCHEDULED,

    /** It is not stored, as the queue holds a message of its id. */
    KEPT,

    /** It has no header for a delay, and is left to other consumers. */
    SKIPPED,

    /** It can never be scheduled, which was logged. */
    INVALID,

    /** The store does not take it now; it is tried again. */
    FAILED;

    /** Returns whether the broker may forget the message. */
    boolean isStored() {
        return this == SCHEDULED || this == KEPT;
    }

}
