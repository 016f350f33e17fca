package io.delayqueue.store;

/**
 * What is wrong with a server that messages are kept on.
 *
 * @param kind what it is
 * @param at where, if there are several servers; empty otherwise
 * @param detail in the server's own words, such as an error
 */
public record ServerIssue(Kind kind, String at, String detail) {

    /** Kinds of faults, which cost messages or time. */
    public enum Kind {

        /** It did not answer; the detail is what happened instead. */
        SILENT,

        /** It removes messages when its memory is full; the detail is its policy. */
        EVICTS,

        /** Its memory is nearly full; the detail is how full. */
        NEARLY_FULL,

        /** It takes no writes; the detail is its error. */
        REFUSES,

        /** Its user lacks a permission; the detail is its error. */
        FORBIDS,

        /** Its user may not publish wake-ups. */
        MUTE

    }

}
