package io.delayqueue;

/**
 * Decides about occurrences of a schedule that were missed: those that are late by more
 * than {@code delayqueue.schedules.misfire-threshold}, because no node was running or
 * Redis was away. It does not concern occurrences that are late by less.
 *
 * @see DelayedSchedule#misfire()
 */
public enum MisfirePolicy {

    /**
     * A missed occurrence is skipped if a later one is due too; otherwise it is sent.
     */
    ONCE,

    /** Missed occurrences are skipped. */
    SKIP,

    /**
     * Missed occurrences are sent, but only the last ones that are due, as many as
     * {@link DelayedSchedule#catchUpLimit()}. Those before them are skipped.
     */
    ALL

}
