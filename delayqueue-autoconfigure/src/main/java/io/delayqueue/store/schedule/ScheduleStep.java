package io.delayqueue.store.schedule;

import io.delayqueue.ScheduleSkip;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.schedule.ScheduleRecord.Position;
import org.jspecify.annotations.Nullable;

/**
 * Advances a schedule from the state on which the decision is based: sends the next
 * occurrence, or records that occurrences are skipped. A schedule that is not readable is
 * postponed instead, so that it does not delay others.
 *
 * @param name the schedule
 * @param generation the expected generation
 * @param next the expected nominal time of the next occurrence
 * @param last the expected nominal time of the last one
 * @param to the position after the step
 * @param occurrence what to send; {@code null} to skip or to postpone
 * @param skip the occurrences to skip, from {@code next} on; {@code null} to send or to
 * postpone
 */
public record ScheduleStep(String name, long generation, long next, long last, Position to,
        @Nullable Occurrence occurrence, @Nullable ScheduleSkip skip) {

    public ScheduleStep {
        if (occurrence != null && skip != null) {
            throw new IllegalArgumentException(
                    "A step of schedule '%s' is not valid: it must not both send and skip".formatted(name));
        }
    }

    /** Creates a step that sends the next occurrence. */
    public static ScheduleStep send(String name, ScheduleRecord from, Position to, Occurrence occurrence) {
        return new ScheduleStep(name, from.generation(), from.next(), from.last(), to, occurrence, null);
    }

    /** Creates a step that skips occurrences. */
    public static ScheduleStep skip(String name, ScheduleRecord from, Position to, ScheduleSkip skip) {
        return new ScheduleStep(name, from.generation(), from.next(), from.last(), to, null, skip);
    }

    /** Creates a step that lets nodes try a schedule again in a minute. */
    public static ScheduleStep postpone(String name, ScheduleRecord from) {
        return new ScheduleStep(name, from.generation(), from.next(), from.last(), from.position(), null, null);
    }

    /** Returns whether nodes are to try the schedule again in a minute. */
    public boolean isPostponement() {
        return this.occurrence == null && this.skip == null;
    }

    /**
     * Holds the message of an occurrence, and the conditions under which it is sent.
     *
     * @param message the message, due at an instant, which may be past
     * @param validUntil the last time at which the decision to send is valid, in
     * milliseconds since the epoch; {@code null} if it stays valid
     * @param lastId the id that must not be held, or the occurrence is skipped as
     * OVERLAP; {@code null} for none
     * @param backlogId the id that must not be held, or the occurrence is skipped as
     * BACKLOG; {@code null} for none
     */
    public record Occurrence(NewMessage message, @Nullable Long validUntil, @Nullable String lastId,
            @Nullable String backlogId) {
    }

}
