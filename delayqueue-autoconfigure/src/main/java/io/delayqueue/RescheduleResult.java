package io.delayqueue;

/**
 * Lists the possible results of a reschedule.
 *
 * @see DelayQueueOperations#reschedule
 */
public enum RescheduleResult {

    /** The message has its new due time. */
    RESCHEDULED,

    /** The message is being handled; nothing changed. */
    LEASED,

    /** The queue holds no message with that id. */
    NOT_FOUND

}
