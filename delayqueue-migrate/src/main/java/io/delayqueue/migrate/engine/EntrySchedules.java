package io.delayqueue.migrate.engine;

import java.time.Instant;
import java.util.Objects;
import java.util.Optional;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.PayloadConversionException;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.ScheduleOperations;
import io.delayqueue.ScheduleStatus;
import io.delayqueue.migrate.EntryOutcome;
import io.delayqueue.migrate.SourceEntry;
import io.delayqueue.migrate.SourceSchedule;
import tools.jackson.databind.json.JsonMapper;

/**
 * Puts the schedules of taken entries. A schedule of the same name, times, payload and
 * policies is left as it is, so the put of an entry can be repeated.
 */
final class EntrySchedules {

    private final DelayQueueOperations queues;

    private final EntryMessages messages;

    private final JsonMapper json;

    /**
     * Creates it.
     * @param json writes payloads as the target does
     */
    EntrySchedules(DelayQueueOperations queues, EntryMessages messages, JsonMapper json) {
        this.queues = queues;
        this.messages = messages;
        this.json = json;
    }

    /**
     * Puts the schedule of an entry, which begins with the due time of the entry.
     * @throws io.delayqueue.DelayQueueException if that failed; the call can be repeated
     */
    Put put(String queue, SourceEntry entry, SourceSchedule schedule) {
        ScheduleOperations schedules = this.queues.schedules(queue);
        ScheduleDefinition definition;
        try {
            definition = this.messages.scheduleOf(entry, schedule);
        }
        catch (Exception ex) {
            return unreadable(entry, EntryMessages.reason(ex));
        }
        try {
            if (schedules.putIfAbsent(definition, dueAt(entry))) {
                return new Put(EntryOutcome.sent(entry.id()), false);
            }
        }
        catch (IllegalArgumentException | PayloadConversionException ex) {
            return unreadable(entry, EntryMessages.reason(ex));
        }
        Optional<ScheduleStatus> held = schedules.find(definition.name());
        if (held.isPresent() && isSame(held.get(), definition)) {
            return new Put(EntryOutcome.sent(entry.id()), true);
        }
        return unreadable(entry, "queue '%s' has another schedule '%s': remove it, or keep it and discard the entry"
            .formatted(queue, definition.name()));
    }

    /** Returns whether a schedule is as the entry determines it. */
    private boolean isSame(ScheduleStatus held, ScheduleDefinition definition) {
        ScheduleDefinition other = held.definition();
        return other.hasTimesOf(definition) && other.misfire() == definition.misfire()
                && other.overlap() == definition.overlap() && this.json.readTree(held.payload())
                    .equals(this.json.readTree(this.json.writeValueAsString(definition.payload())));
    }

    private static Put unreadable(SourceEntry entry, String reason) {
        return new Put(EntryOutcome.unreadable(entry.id(), reason), false);
    }

    private static Instant dueAt(SourceEntry entry) {
        return Objects.requireNonNull(entry.dueAt(), "A schedule needs the time of its first occurrence");
    }

    /**
     * Holds the result of a put.
     *
     * @param outcome the outcome for the entry
     * @param kept whether the queue had the schedule already
     */
    record Put(EntryOutcome outcome, boolean kept) {

        boolean isSent() {
            return this.outcome.outcome() == EntryOutcome.Outcome.SENT;
        }

    }

}
