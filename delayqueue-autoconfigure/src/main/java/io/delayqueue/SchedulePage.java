package io.delayqueue;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Holds some schedules of a queue, the one that is due next first.
 *
 * @param schedules the schedules
 * @param nextCursor the position of the next page; {@code null} if there are no more
 */
public record SchedulePage(List<ScheduleStatus> schedules, @Nullable String nextCursor) {

    public SchedulePage {
        schedules = List.copyOf(schedules);
    }

}
