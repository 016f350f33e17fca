package io.delayqueue;

/**
 * Names the reason why an occurrence of a schedule was recorded as skipped.
 *
 * @see ScheduleSkip
 * @see ScheduleOperations
 */
public enum SkipReason {

    /** The schedule was paused. */
    PAUSED,

    /** It was missed, and {@link MisfirePolicy} does not make up for it. */
    MISFIRE,

    /** It was missed, and {@code catchUpLimit} later ones or more were due too. */
    CATCH_UP_LIMIT,

    /** Its time to live was over before it could be sent. */
    EXPIRED,

    /** The queue held the last occurrence, with {@link OverlapPolicy#SKIP}. */
    OVERLAP,

    /**
     * The queue held the occurrence that is {@code catchUpLimit} before it, or before
     * others that were skipped for this reason.
     */
    BACKLOG,

    /**
     * It was due when another definition replaced one that was not readable. Later
     * occurrences of that one are not counted, as its times are not known.
     */
    REDEFINED,

    /**
     * Redis had lost the schedule. Some of these occurrences may have been sent before
     * the loss.
     */
    DATA_LOSS

}
