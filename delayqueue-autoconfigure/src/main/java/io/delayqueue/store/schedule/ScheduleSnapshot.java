package io.delayqueue.store.schedule;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * Holds a schedule as it was at one moment.
 *
 * @param name its name
 * @param state its state; {@code null} if there is no schedule of that name
 * @param skips its skips
 * @param now the time of the store
 * @param declaredAt when a node of the application that declares it did so last;
 * {@code null} if none has, or if a call has put it
 */
public record ScheduleSnapshot(String name, @Nullable ScheduleState state, SkipLog skips, Instant now,
        @Nullable Instant declaredAt) {
}
