package io.delayqueue.model;

/** The operations of a store, each of which is one script. */
enum Op {

    KEEP, REPLACE, CANCEL, RESCHEDULE, REDRIVE, CLAIM, START, EXTEND, ACKNOWLEDGE, RETRY, RELEASE, DEAD_LETTER,

    /** The second half of a claim of two calls; see {@link Defect#CLAIM_IN_TWO_CALLS}. */
    WRITE_LEASE;

    boolean isSend() {
        return this == KEEP || this == REPLACE;
    }

    /** Whether only the holder of a lease may do it. */
    boolean isFenced() {
        return ordinal() >= START.ordinal();
    }

    /**
     * Whether a call that arrives twice leaves the state of one, and answers the same.
     */
    boolean isIdempotent() {
        return switch (this) {
            case KEEP, REPLACE, REDRIVE, START, EXTEND, RETRY, RELEASE, DEAD_LETTER -> true;
            case CANCEL, RESCHEDULE, CLAIM, ACKNOWLEDGE, WRITE_LEASE -> false;
        };
    }

}
