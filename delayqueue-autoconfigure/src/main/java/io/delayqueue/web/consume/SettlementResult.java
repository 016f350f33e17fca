package io.delayqueue.web.consume;

/** What came of the settlement of a lease. */
public enum SettlementResult {

    /** This call settled it. */
    DONE,

    /** An earlier call did, in just that way; this one changed nothing. */
    REPEATED,

    /** The lease had passed on, and nothing was changed. */
    REFUSED;

    public static SettlementResult of(boolean held) {
        return held ? DONE : REFUSED;
    }

}
