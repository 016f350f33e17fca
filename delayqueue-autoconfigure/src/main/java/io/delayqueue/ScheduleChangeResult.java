package io.delayqueue;

/**
 * Lists the results of an operation on one schedule.
 *
 * @see ScheduleOperations
 */
public enum ScheduleChangeResult {

    /** The schedule was changed or removed. */
    DONE,

    /** The schedule was in the requested state already. */
    UNCHANGED,

    /** The queue has no schedule of that name. */
    NOT_FOUND,

    /**
     * The schedule is declared in the code of an application that has had live nodes
     * within the last hour, which would add it again. Nothing was changed.
     */
    DECLARED

}
