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
    NOT_FOUND,

    /**
     * Nothing has changed yet: the reschedule takes effect after the transaction has
     * committed, and not at all if it rolls back. Only for queues with a journal.
     */
    DEFERRED,

    /**
     * The journal has committed the reschedule, and the store has not answered yet. Only
     * for queues with a journal.
     */
    RECORDED

}
