package io.delayqueue;

/**
 * Lists the results of {@link ScheduleOperations#put(ScheduleDefinition)}.
 */
public enum SchedulePutResult {

    /** The schedule was added. */
    CREATED,

    /** The definition was replaced. */
    REPLACED,

    /** The schedule has this definition already. */
    UNCHANGED

}
