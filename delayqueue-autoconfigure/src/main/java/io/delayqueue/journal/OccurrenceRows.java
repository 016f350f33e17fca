package io.delayqueue.journal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.QueueName;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.schedule.ScheduleStep;
import io.delayqueue.store.schedule.ScheduleStep.Occurrence;
import io.delayqueue.store.schedule.StepOutcome;

/**
 * Inserts the rows of occurrences that schedules of ledgers are about to fire, and
 * accepts those of occurrences that the store has. The rows of the others end by entries
 * that the store makes; they are deleted if the call had no effect, or by the relay if no
 * answer came. Thread-safe; methods wait for the database, and may wait for the time of
 * the store.
 */
final class OccurrenceRows {

    private final JournalTable table;

    private final OfferSender offers;

    private final JournalReconciler reconciler;

    private final JournalStatus status;

    OccurrenceRows(JournalTable table, OfferSender offers, JournalReconciler reconciler, JournalStatus status) {
        this.table = table;
        this.offers = offers;
        this.reconciler = reconciler;
        this.status = status;
    }

    /**
     * Returns the mode of a queue. If that is a ledger, occurrences need rows; then
     * compares the queue with the journal, so that rows are settled that were left
     * behind.
     */
    JournalMode include(QueueName queue) {
        JournalMode mode = this.offers.mode(queue);
        if (mode == JournalMode.LEDGER) {
            this.reconciler.include(queue);
        }
        return mode;
    }

    /**
     * Inserts rows for the steps that send occurrences, in one transaction, and returns
     * the steps with them. The store applies these steps only while the claims of the
     * rows last, so that no other node takes a row for one that was left behind.
     * @param comparisonLimit the longest wait for the first comparison of the queue
     * @return the first steps, at least one: with a slow database, those whose rows could
     * be inserted in half of the time until the deadline
     */
    List<ScheduleStep> record(QueueName queue, List<ScheduleStep> steps, Duration comparisonLimit) {
        requireCompared(queue, comparisonLimit);
        this.offers.prepare(queue);
        // The time until the deadline begins when there is a connection.
        return this.table.database().inOwnTransaction(() -> inserted(queue, steps));
    }

    private List<ScheduleStep> inserted(QueueName queue, List<ScheduleStep> steps) {
        long begin = System.nanoTime();
        long deadline = this.offers.preparedDeadline(Partition.first(queue), begin) / 1000;
        long limit = this.offers.span().dividedBy(2).toNanos();
        List<String> ids = steps.stream()
            .map(ScheduleStep::occurrence)
            .filter(Objects::nonNull)
            .map((occurrence) -> occurrence.message().id())
            .toList();
        Map<String, List<Long>> others = othersOf(this.table.database(), queue, ids);
        List<ScheduleStep> recorded = new ArrayList<>(steps.size());
        for (ScheduleStep step : steps) {
            if (!recorded.isEmpty() && System.nanoTime() - begin > limit) {
                break;
            }
            Occurrence occurrence = step.occurrence();
            recorded.add((occurrence != null) ? step.with(recorded(queue, occurrence, deadline, others)) : step);
        }
        return recorded;
    }

    private Occurrence recorded(QueueName queue, Occurrence occurrence, long deadline, Map<String, List<Long>> others) {
        NewMessage message = occurrence.message();
        long revision = this.table.insert(JournalRequest.occurrence(queue, message));
        return occurrence.recorded(revision, deadline, others.getOrDefault(message.id(), List.of()));
    }

    private void requireCompared(QueueName queue, Duration limit) {
        try {
            String reason = this.status.unpaired(queue, limit);
            if (reason != null) {
                throw new StoreUnavailableException(reason + "; no occurrence was sent", Effect.NONE, null);
            }
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new StoreUnavailableException("Interrupted; no occurrence was sent", Effect.NONE, ex);
        }
    }

    /**
     * Returns the rows of the same occurrences, by ids: of a node that has left them
     * behind, or of messages that the store has lost.
     */
    static Map<String, List<Long>> othersOf(JournalDatabase database, QueueName queue, List<String> ids) {
        Map<String, List<Long>> others = new HashMap<>();
        database.replanned("""
                SELECT message_id, revision FROM delayqueue_journal
                WHERE namespace = :namespace AND queue_name = :queue AND message_id IN (:ids)
                  AND (operation = 'O' OR operation = 'S' AND accepted = TRUE)""")
            .param("queue", queue.value())
            .param("ids", ids)
            .query((row, number) -> others.computeIfAbsent(row.getString(1), (id) -> new ArrayList<>())
                .add(row.getLong(2)))
            .list();
        return others;
    }

    /** Accepts the rows of the occurrences that were sent, by steps with rows. */
    void accept(QueueName queue, List<ScheduleStep> steps, List<StepOutcome> outcomes) {
        List<AcceptedRowUpdate> accepted = new ArrayList<>();
        for (int i = 0; i < steps.size(); i++) {
            Occurrence occurrence = steps.get(i).occurrence();
            if (occurrence != null && outcomes.get(i).equals(StepOutcome.SENT)) {
                long due = occurrence.message().due().millis();
                accepted.add(
                        new AcceptedRowUpdate(occurrence.message().revision(), due, this.offers.nextCheck(queue, due)));
            }
        }
        this.table.accept(accepted);
        this.status.addApplied(accepted.size());
    }

    /** Deletes the rows of steps that the store has not applied, and will not. */
    void delete(List<ScheduleStep> steps) {
        List<Long> revisions = steps.stream()
            .map(ScheduleStep::occurrence)
            .filter(Objects::nonNull)
            .map((occurrence) -> occurrence.message().revision())
            .toList();
        this.table.deleteOwn(revisions);
    }

}
