package io.delayqueue.faults;

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

        /** Fails at each attempt. */
        DOOMED,

        /** Ends its process. */
        POISON

    }

}
