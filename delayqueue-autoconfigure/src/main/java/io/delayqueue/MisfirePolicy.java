package io.delayqueue;

/**
 * Decides about occurrences of a schedule that were missed: those that are late by more
 * than {@code delayqueue.schedules.misfire-threshold}, because no node was running or
 * Redis was away. Occurrences that are late by less are always sent.
 *
 * @see DelayedSchedule#misfire()
 */
public enum MisfirePolicy {

    /**
     * Of the occurrences that are due, the latest one is sent. Those before it that were
     * missed are skipped.
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
