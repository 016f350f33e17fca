package io.delayqueue.journal;

/** Defines for which requests on a queue the journal has rows, and how long. */
public enum JournalMode {

    /** Requests go to the store at once; there is no row. */
    OFF,

    /**
     * A request is a row that is inserted in the caller's transaction and deleted once
     * the store has applied it.
     */
    OUTBOX

}
