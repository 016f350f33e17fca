package io.delayqueue.web.consume;

/** Lists the outcomes of the settlement of a lease. */
public enum SettlementResult {

    /** This call settled the lease. */
    DONE,

    /** An earlier call settled it in the same way; this one changed nothing. */
    REPEATED,

    /** The lease was no longer held, and nothing was changed. */
    REJECTED;

    public static SettlementResult of(boolean settled) {
        return of(settled, true);
    }

    static SettlementResult of(boolean settled, boolean first) {
        return !settled ? REJECTED : first ? DONE : REPEATED;
    }

}
