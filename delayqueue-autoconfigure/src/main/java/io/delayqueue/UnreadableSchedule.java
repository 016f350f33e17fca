package io.delayqueue;

import org.jspecify.annotations.Nullable;

/**
 * Describes a schedule whose definition is not readable: it was changed in Redis by
 * another program, damaged, or stored by a later version. It does not fire, and delays no
 * other one. {@link ScheduleOperations#put(ScheduleDefinition)} replaces it, and
 * {@link ScheduleOperations#remove(String)} removes it.
 *
 * @param queue the queue of the schedule
 * @param name the name of the schedule
 * @param owner the application that declares it; {@code null} if it was put by a call, or
 * if that is not readable either
 * @param reason why it is not readable
 */
public record UnreadableSchedule(String queue, String name, @Nullable String owner, String reason) {
}
