package io.delayqueue;

/** What a reschedule did. */
public enum RescheduleResult {

    /** The message has its new due time. */
    RESCHEDULED,

    /** The message is being handled; nothing changed. */
    LEASED,

    /** The queue holds no message with that id. */
    NOT_FOUND

}
