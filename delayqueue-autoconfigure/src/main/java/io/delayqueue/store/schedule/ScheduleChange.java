package io.delayqueue.store.schedule;

import io.delayqueue.ScheduleSkip;
import org.jspecify.annotations.Nullable;

/**
 * Replaces the state of a schedule, if it still is what the caller has read.
 *
 * @param name the schedule
 * @param expected the state that the caller has read; {@code null} for none
 * @param state the new state; {@code null} to remove the schedule
 * @param skip occurrences to record as skipped; {@code null} for none
 * @param node the node that made the change, and fires first from now on; {@code null} to
 * leave that as it is
 */
public record ScheduleChange(String name, @Nullable ScheduleState expected, @Nullable ScheduleState state,
        @Nullable ScheduleSkip skip, @Nullable String node) {
}
