package io.delayqueue.faults;

import org.jspecify.annotations.Nullable;

/**
 * The payload of a message that a node sends.
 *
 * @param number names the send that brought it, among all of a run
 */
record Job(String number, Fate fate) {

    private static final String BEFORE = "\"number\":\"";

    /** The number of the job that a text in JSON holds; empty if there is none. */
    static String numberIn(String json) {
        int at = json.indexOf(BEFORE);
        int start = at + BEFORE.length();
        return (at < 0) ? "" : json.substring(start, json.indexOf('"', start));
    }

    /** What its handler does. */
    enum Fate {

        /** Ends at once. */
        QUICK,

        /** Fails at the first attempt. */
        FAILS_ONCE,

        /** Takes longer than a lease. */
        SLOW,

        /** Is given back at first, with no attempt burned. */
        COMES_BACK,

        /** Waits until its node is told to go on. */
        WAITS,

        /** Takes longer than a lease, and no interrupt ends it. */
        DEAF,

        /** Ends its process. */
        POISON,

        /** Fails at each attempt. */
        DOOMED("It is the fate of"),

        /** Never ends by itself. */
        HANGS("HandlerTimeoutException"),

        STACK_OVERFLOW("StackOverflowError"),

        CANNOT_BE_LINKED("NoClassDefFoundError: It is the fate of"),

        /** An error that nobody knows. */
        OWN_ERROR("ItsOwnError: It is the fate of"),

        /** Takes all memory there is. */
        FILLS_THE_HEAP("OutOfMemoryError");

        private final @Nullable String cause;

        Fate() {
            this.cause = null;
        }

        /**
         * @param cause of its death, as it never ends well
         */
        Fate(@Nullable String cause) {
            this.cause = cause;
        }

        /** What its dead letter names; {@code null} if it does not deserve one. */
        @Nullable String cause() {
            return this.cause;
        }

    }

}
