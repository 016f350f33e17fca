package io.delayqueue.web.dashboard;

import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

import io.delayqueue.DeadLetter;
import io.delayqueue.DeadLetterPage;
import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.FailureReasons;
import io.delayqueue.MessageState;
import io.delayqueue.ScheduleStatus;
import io.delayqueue.ScheduledOccurrence;
import io.delayqueue.StoredMessage;
import io.delayqueue.admin.HistoryEntry;
import io.delayqueue.admin.MessageHistory;
import io.delayqueue.web.dashboard.OccurrenceStatus.State;
import org.jspecify.annotations.Nullable;

/**
 * Finds the states of the last occurrences of schedules: among the messages of the queue,
 * its latest dead letters, and the history of messages. Thread-safe.
 */
final class OccurrenceStatusFinder {

    /** Dead letters that are read, the latest first. */
    private static final int MAX_DEAD_LETTERS = 100;

    private static final Map<HistoryEntry.Event, State> ENDS = Map.of(HistoryEntry.Event.HANDLED, State.HANDLED,
            HistoryEntry.Event.EXPIRED, State.EXPIRED, HistoryEntry.Event.CANCELLED, State.CANCELLED,
            HistoryEntry.Event.PURGED, State.PURGED);

    private final DelayQueueOperations operations;

    private final @Nullable MessageHistory history;

    OccurrenceStatusFinder(DelayQueueOperations operations, @Nullable MessageHistory history) {
        this.operations = operations;
        this.history = history;
    }

    /**
     * Returns the outcomes of the last occurrences, by the names of the schedules.
     * @param schedules of one queue
     */
    Map<String, OccurrenceStatus> find(String queue, List<ScheduleStatus> schedules) {
        Map<String, OccurrenceStatus> outcomes = new HashMap<>();
        DeadLetterPage dead = null;
        for (ScheduleStatus schedule : schedules) {
            Instant last = schedule.lastAt();
            if (last == null) {
                continue;
            }
            String id = ScheduledOccurrence.messageId(schedule.name(), last);
            Optional<StoredMessage> held = this.operations.find(queue, id);
            if (held.isPresent()) {
                outcomes.put(schedule.name(), held(id, held.get()));
                continue;
            }
            dead = (dead != null) ? dead : this.operations.deadLetters(queue).list(null, MAX_DEAD_LETTERS);
            outcomes.put(schedule.name(), ended(id, last, dead));
        }
        return outcomes;
    }

    /** Returns the outcome of the last occurrence, also by the history of messages. */
    @Nullable OccurrenceStatus find(ScheduleStatus schedule) {
        OccurrenceStatus outcome = find(schedule.queue(), List.of(schedule)).get(schedule.name());
        return (outcome != null && (outcome.state() == State.ENDED || outcome.state() == State.UNKNOWN))
                ? recorded(schedule.queue(), outcome) : outcome;
    }

    private static OccurrenceStatus held(String id, StoredMessage message) {
        State state = (message.state() == MessageState.LEASED) ? State.IN_FLIGHT
                : (message.failures() > 0) ? State.RETRYING : State.WAITING;
        FailureReasons reasons = message.failureReasons();
        return new OccurrenceStatus(id, state, null, message.failures(), (reasons != null) ? reasons.last() : null);
    }

    private static OccurrenceStatus ended(String id, Instant nominalTime, DeadLetterPage dead) {
        List<DeadLetter> all = dead.deadLetters();
        for (DeadLetter one : all) {
            if (one.messageId().equals(id)) {
                return new OccurrenceStatus(id, State.DEAD_LETTER, one.id(), one.failures(), one.reason());
            }
        }
        boolean complete = dead.nextCursor() == null
                || (!all.isEmpty() && all.get(all.size() - 1).deadLetteredAt().isBefore(nominalTime));
        return new OccurrenceStatus(id, complete ? State.ENDED : State.UNKNOWN);
    }

    /** Returns the recorded end, the latest if there are several. */
    private OccurrenceStatus recorded(String queue, OccurrenceStatus outcome) {
        if (this.history == null) {
            return outcome;
        }
        try {
            return this.history.of(queue, outcome.id())
                .stream()
                .map((entry) -> ENDS.get(entry.event()))
                .filter(Objects::nonNull)
                .reduce((earlier, later) -> later)
                .map((state) -> new OccurrenceStatus(outcome.id(), state))
                .orElse(outcome);
        }
        catch (DelayQueueException ex) {
            return outcome;
        }
    }

}
