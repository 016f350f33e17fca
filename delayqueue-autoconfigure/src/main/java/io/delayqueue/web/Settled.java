package io.delayqueue.web;

/** What came of the settlement of a lease. */
enum Settled {

    /** This call settled it. */
    DONE,

    /** An earlier call did, in just that way; this one changed nothing. */
    REPEATED,

    /** The lease had passed on, and nothing was changed. */
    REFUSED;

    static Settled of(boolean held) {
        return held ? DONE : REFUSED;
    }

}
