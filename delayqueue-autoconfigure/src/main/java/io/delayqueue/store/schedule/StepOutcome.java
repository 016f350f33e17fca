package io.delayqueue.store.schedule;

import io.delayqueue.SkipReason;
import org.jspecify.annotations.Nullable;

/**
 * Holds the result of a step.
 *
 * @param kind what was done
 * @param reason why the occurrences were skipped; {@code null} for other kinds
 */
public record StepOutcome(Kind kind, @Nullable SkipReason reason) {

    public static final StepOutcome SENT = new StepOutcome(Kind.SENT, null);

    public static final StepOutcome KEPT = new StepOutcome(Kind.KEPT, null);

    public static final StepOutcome STALE = new StepOutcome(Kind.STALE, null);

    public static final StepOutcome EARLY = new StepOutcome(Kind.EARLY, null);

    public static final StepOutcome OUTDATED = new StepOutcome(Kind.OUTDATED, null);

    public static final StepOutcome UNRECORDED = new StepOutcome(Kind.UNRECORDED, null);

    public static final StepOutcome POSTPONED = new StepOutcome(Kind.POSTPONED, null);

    /** Returns the outcome of a step that skipped occurrences. */
    public static StepOutcome skipped(SkipReason reason) {
        return new StepOutcome(Kind.SKIPPED, reason);
    }

    /** Returns whether the schedule has advanced. */
    public boolean isApplied() {
        return this.kind == Kind.SENT || this.kind == Kind.KEPT || this.kind == Kind.SKIPPED;
    }

    /** Lists what a step can do. */
    public enum Kind {

        /** The occurrence was stored. */
        SENT,

        /** The queue held the occurrence already. */
        KEPT,

        /** The occurrences were counted. */
        SKIPPED,

        /** Nodes try the schedule again in a minute. */
        POSTPONED,

        /** Nothing: the schedule has another state than expected, or is gone. */
        STALE,

        /** Nothing: the next occurrence is not due. */
        EARLY,

        /** Nothing: the decision to send is no longer valid. */
        OUTDATED,

        /**
         * Nothing: the queue is a ledger, and the occurrence has no row in its journal.
         */
        UNRECORDED

    }

}
