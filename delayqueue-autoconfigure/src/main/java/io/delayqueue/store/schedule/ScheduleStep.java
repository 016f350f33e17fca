package io.delayqueue.store.schedule;

import java.util.List;

import io.delayqueue.ScheduleSkip;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.schedule.ScheduleState.Position;
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
    public static ScheduleStep send(String name, ScheduleState from, Position to, Occurrence occurrence) {
        return new ScheduleStep(name, from.generation(), from.next(), from.last(), to, occurrence, null);
    }

    /** Creates a step that skips occurrences. */
    public static ScheduleStep skip(String name, ScheduleState from, Position to, ScheduleSkip skip) {
        return new ScheduleStep(name, from.generation(), from.next(), from.last(), to, null, skip);
    }

    /** Creates a step that lets nodes try a schedule again in a minute. */
    public static ScheduleStep postpone(String name, ScheduleState from) {
        return new ScheduleStep(name, from.generation(), from.next(), from.last(), from.position(), null, null);
    }

    /** Returns whether nodes are to try the schedule again in a minute. */
    public boolean isPostponement() {
        return this.occurrence == null && this.skip == null;
    }

    /** Returns this step with another form of its occurrence. */
    public ScheduleStep with(Occurrence other) {
        return new ScheduleStep(this.name, this.generation, this.next, this.last, this.to, other, null);
    }

    /** Returns this step for a process that leaves the ledger of its queue. */
    public ScheduleStep withoutRow() {
        return (this.occurrence != null) ? with(this.occurrence.withoutRow()) : this;
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
     * @param voids other rows of this occurrence in a journal, which end if the message
     * is stored
     * @param rowless whether it is sent without a row though the queue is a ledger
     */
    public record Occurrence(NewMessage message, @Nullable Long validUntil, @Nullable String lastId,
            @Nullable String backlogId, List<Long> voids, boolean rowless) {

        public Occurrence {
            voids = List.copyOf(voids);
        }

        /** Creates an occurrence without other rows. */
        public Occurrence(NewMessage message, @Nullable Long validUntil, @Nullable String lastId,
                @Nullable String backlogId) {
            this(message, validUntil, lastId, backlogId, List.of(), false);
        }

        /**
         * Returns this occurrence with its row in a journal.
         * @param revision the row
         * @param deadline the last time at which it may be sent with that row, in
         * milliseconds since the epoch
         * @param voids other rows of this occurrence
         */
        public Occurrence recorded(long revision, long deadline, List<Long> voids) {
            long until = (this.validUntil != null) ? Math.min(this.validUntil, deadline) : deadline;
            return new Occurrence(this.message.withRevision(revision), until, this.lastId, this.backlogId, voids,
                    false);
        }

        private Occurrence withoutRow() {
            return new Occurrence(this.message, this.validUntil, this.lastId, this.backlogId, this.voids, true);
        }

    }

}
