package io.delayqueue.migrate;

import java.time.Instant;
import java.util.Map;
import java.util.Objects;

import io.delayqueue.MessageLimits;
import org.jspecify.annotations.Nullable;

/**
 * Holds a waiting message of a source.
 *
 * @param id identifies the entry among all that were ever taken from the queue; a valid
 * message id, under which the message is sent unless {@code businessId} is set and free
 * @param dueAt when it is due; {@code null} if {@code problem} says why it is not known
 * @param payload the payload as the source stores it, in bytes that no one else changes
 * @param businessId the id of the message in the source, by which its application may
 * want to cancel it; {@code null} for none
 * @param priority the priority of the message that is sent, see
 * {@link io.delayqueue.DelayedMessage#priority()}
 * @param headers headers of the message that is sent, such as the number of failed
 * attempts
 * @param problem why the entry cannot be moved; {@code null} if it can
 * @param drop why the entry need not be moved, such as that it was deleted; {@code null}
 * if it must be
 * @param schedule when it is sent again and again, from {@code dueAt} on; {@code null} if
 * it is sent once
 */
@SuppressWarnings("ArrayRecordComponent")
public record SourceEntry(String id, @Nullable Instant dueAt, byte[] payload, @Nullable String businessId, int priority,
        Map<String, String> headers, @Nullable String problem, @Nullable String drop,
        @Nullable SourceSchedule schedule) {

    public SourceEntry {
        MessageLimits.requirePriority(priority);
        headers = Map.copyOf(headers);
        if (problem == null && drop == null) {
            Objects.requireNonNull(dueAt, "An entry without a problem needs a due time");
        }
    }

    /** Returns an entry that can be moved. */
    public static SourceEntry of(String id, Instant dueAt, byte[] payload) {
        return new SourceEntry(id, dueAt, payload, null, MessageLimits.NORMAL_PRIORITY, Map.of(), null, null, null);
    }

    /** Returns an entry that cannot be moved. */
    public static SourceEntry unreadable(String id, @Nullable Instant dueAt, byte[] payload, String problem) {
        return new SourceEntry(id, dueAt, payload, null, MessageLimits.NORMAL_PRIORITY, Map.of(), problem, null, null);
    }

    /** Returns this entry with an id of the source and headers. */
    public SourceEntry with(@Nullable String businessId, Map<String, String> headers) {
        return new SourceEntry(this.id, this.dueAt, this.payload, businessId, this.priority, headers, this.problem,
                this.drop, this.schedule);
    }

    /** Returns this entry with a priority. */
    public SourceEntry withPriority(int priority) {
        return new SourceEntry(this.id, this.dueAt, this.payload, this.businessId, priority, this.headers, this.problem,
                this.drop, this.schedule);
    }

    /** Returns this entry as one that need not be moved. */
    public SourceEntry dropped(String reason) {
        return new SourceEntry(this.id, this.dueAt, this.payload, this.businessId, this.priority, this.headers,
                this.problem, reason, this.schedule);
    }

    /** Returns this entry as one that becomes a schedule. */
    public SourceEntry withSchedule(@Nullable SourceSchedule schedule) {
        return new SourceEntry(this.id, this.dueAt, this.payload, this.businessId, this.priority, this.headers,
                this.problem, this.drop, schedule);
    }

    /** Describes the entry without its payload, which may be private. */
    @Override
    public String toString() {
        return "SourceEntry[id=%s, dueAt=%s, payload=%d bytes, problem=%s, drop=%s]".formatted(this.id, this.dueAt,
                this.payload.length, this.problem, this.drop);
    }

}
