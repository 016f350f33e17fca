package io.delayqueue.model;

import io.delayqueue.OnDuplicate;

/** The operations of a store, each of which is one script. */
enum Op {

    KEEP, AFTER_CURRENT, REPLACE, CANCEL, RESCHEDULE, REDRIVE, CLAIM, START, EXTEND, ACKNOWLEDGE, RETRY, RELEASE,
    DEAD_LETTER,

    /** The second half of a claim of two calls; see {@link Defect#CLAIM_IN_TWO_CALLS}. */
    WRITE_LEASE;

    boolean isSend() {
        return this == KEEP || this == AFTER_CURRENT || this == REPLACE;
    }

    /** How the API calls it, if it is a send. */
    OnDuplicate onDuplicate() {
        return OnDuplicate.valueOf(name());
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
            case KEEP, AFTER_CURRENT, REPLACE, REDRIVE, START, EXTEND, RETRY, RELEASE, DEAD_LETTER -> true;
            case CANCEL, RESCHEDULE, CLAIM, ACKNOWLEDGE, WRITE_LEASE -> false;
        };
    }

}
