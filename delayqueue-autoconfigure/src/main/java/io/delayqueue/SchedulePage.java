package io.delayqueue;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Holds some schedules of a queue, the one that is due next first.
 *
 * @param schedules the schedules
 * @param unreadable those of the page whose definitions are not readable
 * @param nextCursor the position of the next page; {@code null} if there are no more
 * @see ScheduleOperations#list
 */
public record SchedulePage(List<ScheduleStatus> schedules, List<UnreadableSchedule> unreadable,
        @Nullable String nextCursor) {

    public SchedulePage {
        schedules = List.copyOf(schedules);
        unreadable = List.copyOf(unreadable);
    }

    /** Creates a page without schedules that are not readable. */
    public SchedulePage(List<ScheduleStatus> schedules, @Nullable String nextCursor) {
        this(schedules, List.of(), nextCursor);
    }

}
