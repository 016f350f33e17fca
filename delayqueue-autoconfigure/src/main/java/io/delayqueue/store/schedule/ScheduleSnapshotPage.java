package io.delayqueue.store.schedule;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Holds some schedules of a queue, the one that is due next first.
 *
 * @param schedules the schedules
 * @param next the position after which the next page starts; {@code null} if there are no
 * more
 */
public record ScheduleSnapshotPage(List<ScheduleSnapshot> schedules, @Nullable ScheduleCursor next) {

    public ScheduleSnapshotPage {
        schedules = List.copyOf(schedules);
    }

}
