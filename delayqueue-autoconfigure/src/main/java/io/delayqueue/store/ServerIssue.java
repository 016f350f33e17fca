package io.delayqueue.store;

/**
 * Holds a problem of a server that stores messages.
 *
 * @param kind the kind of problem
 * @param at the server, if there are several; empty otherwise
 * @param detail text from the server, such as an error
 */
public record ServerIssue(Kind kind, String at, String detail) {

    /** Lists problems that can lose or delay messages. */
    public enum Kind {

        /** The server did not answer; the detail is the failure. */
        SILENT,

        /**
         * The server evicts messages when its memory is full; the detail is its eviction
         * policy.
         */
        EVICTS,

        /** The memory of the server is nearly full; the detail is its usage. */
        NEARLY_FULL,

        /** The server rejects writes; the detail is its error. */
        REFUSES,

        /** The user lacks a permission; the detail is the error. */
        FORBIDS,

        /** The user may not publish wake-ups. */
        PUBLISH_DENIED

    }

}
