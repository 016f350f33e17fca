package io.delayqueue.journal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.function.BiConsumer;

import io.delayqueue.CancelResult;
import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.NotReplicatedException;
import io.delayqueue.QueueName;
import io.delayqueue.RescheduleResult;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.store.HeldRevision;
import io.delayqueue.store.MessageGroupChangeException;
import io.delayqueue.store.StoreFailures;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Collects the answers of the store to a batch of requests, and changes their rows
 * accordingly. Rows that are deleted and rows that are accepted share a transaction; the
 * other changes have transactions of their own. The rows of an outbox are deleted when
 * their requests are applied. A ledger keeps the row of a message that the store holds.
 * It also keeps the row of a cancel for a time, since an older copy of the store could
 * bring the message back.
 */
final class RelayedBatch {

    private static final Logger logger = LoggerFactory.getLogger(RelayedBatch.class);

    /** How long the row of a cancel is kept after the message would have been due. */
    private static final Duration CANCEL_MEMORY = Duration.ofHours(1);

    private final JournalTable table;

    private final LedgerTable ledger;

    private final OfferSender offers;

    private final LedgerLookup store;

    private final List<Long> deleted = new ArrayList<>();

    private final List<Long> answered = new ArrayList<>();

    private final List<JournalRow> kept = new ArrayList<>();

    private final List<AcceptedRowUpdate> accepted = new ArrayList<>();

    private final List<Long> withoutEffect = new ArrayList<>();

    private final Map<JournalRow, MessageGroupChangeException> refused = new LinkedHashMap<>();

    private @Nullable Throwable unanswered;

    private int applied;

    RelayedBatch(JournalTable table, LedgerTable ledger, OfferSender offers, LedgerLookup store) {
        this.table = table;
        this.ledger = ledger;
        this.offers = offers;
        this.store = store;
    }

    /** Returns a failure without an answer, if there was any. */
    @Nullable Throwable unanswered() {
        return this.unanswered;
    }

    /** Returns the number of requests that the store has applied. */
    int applied() {
        return this.applied;
    }

    /**
     * Adds a request that a later one has superseded. Its row may belong to another node
     * by now, which has applied it after the later one has ended.
     */
    void addSuperseded(JournalRow row) {
        this.answered.add(row.revision());
    }

    /**
     * Adds the answer to a request.
     * @param earlier the accepted rows of its id
     */
    void add(JournalRow row, Object answer, EarlierRows earlier) {
        this.applied++;
        if (!this.offers.keepsRows(row.request().queue())) {
            addOfOutbox(row, answer, earlier);
        }
        else if (answer instanceof SendResult sent) {
            addSend(row, sent, earlier);
        }
        else if (answer instanceof CancelResult) {
            addCancel(row, earlier);
        }
        else if (answer == RescheduleResult.RESCHEDULED) {
            addReschedule(row, earlier);
        }
        else {
            this.answered.add(row.revision());
        }
    }

    /**
     * Adds a request of an outbox. A message that was sent while the queue was a ledger,
     * or is one on other nodes, has a row, which must not restore what this request
     * changes.
     */
    private void addOfOutbox(JournalRow row, Object answer, EarlierRows earlier) {
        if (answer == RescheduleResult.RESCHEDULED && earlier.message(row).isPresent()) {
            addReschedule(row, earlier);
            return;
        }
        boolean replaces = EarlierRows.isReplacement(row) && answer instanceof SendResult sent
                && sent.outcome() != SendOutcome.AFTER_CURRENT;
        if (replaces || answer instanceof CancelResult) {
            // A cancel of an older copy would cancel the replacement, which has no
            // revision.
            earlier.before(row)
                .stream()
                .filter((before) -> replaces || before.request().message() != null)
                .forEach((before) -> this.deleted.add(before.revision()));
        }
        this.deleted.add(row.revision());
    }

    /**
     * Adds a send. If the first answer to a replacement was lost, the present one does
     * not say whether it has replaced earlier messages: they may be lost, and it may have
     * ended. One that it follows is not handled after it in any case.
     */
    private void addSend(JournalRow row, SendResult sent, EarlierRows earlier) {
        boolean replacement = EarlierRows.isReplacement(row);
        if (replacement && sent.outcome() != SendOutcome.AFTER_CURRENT) {
            earlier.before(row).forEach((replaced) -> this.deleted.add(replaced.revision()));
        }
        if (sent.outcome() == SendOutcome.KEPT || sent.dueAt() == null) {
            if (replacement) {
                this.answered.add(row.revision());
            }
            else {
                this.kept.add(row);
            }
            return;
        }
        QueueName queue = row.request().queue();
        long due = sent.dueAt().toEpochMilli();
        this.accepted.add(new AcceptedRowUpdate(row.revision(), due, this.offers.nextCheck(queue, due)));
    }

    private void addCancel(JournalRow row, EarlierRows earlier) {
        List<JournalRow> before = earlier.before(row);
        QueueName queue = row.request().queue();
        long due = before.stream().mapToLong((cancelled) -> dueOf(cancelled)).max().orElse(0);
        Duration check = this.offers.nextCheck(queue, due).plus(CANCEL_MEMORY);
        before.forEach((cancelled) -> this.deleted.add(cancelled.revision()));
        // Kept for as long as the earlier cancel that it replaces.
        long kept = before.stream()
            .filter((cancelled) -> cancelled.request().message() == null)
            .mapToLong(JournalRow::nextCheck)
            .max()
            .orElse(0);
        this.accepted.add(new AcceptedRowUpdate(row.revision(), null, check, kept));
    }

    private long dueOf(JournalRow row) {
        return (row.request().due() != null) ? this.offers.millis(row.request(), row.request().due()) : 0;
    }

    /** Moves the due time of the reschedule to the row of the message. */
    private void addReschedule(JournalRow row, EarlierRows earlier) {
        QueueName queue = row.request().queue();
        Optional<JournalRow> message = earlier.message(row);
        if (message.isEmpty()) {
            this.answered.add(row.revision());
            return;
        }
        long due = dueOf(row);
        this.table.reschedule(row.revision(), message.get().revision(), due, this.offers.nextCheck(queue, due));
    }

    /** Adds a request without an answer, or one that the store rejects. */
    void addFailure(JournalRow row, Throwable failure) {
        if (failure instanceof MessageGroupChangeException group) {
            this.refused.put(row, group);
            return;
        }
        if (failure instanceof NotReplicatedException) {
            logger.warn("A request of the journal is stored on fewer replicas than wanted: {}", failure.getMessage());
            if (!this.offers.keepsRows(row.request().queue())) {
                this.deleted.add(row.revision());
                return;
            } // else the next offer returns what the store holds
        }
        this.unanswered = failure;
        if (failure instanceof DelayQueueException known && known.effect() == Effect.NONE) {
            this.withoutEffect.add(row.revision());
        } // else the claim runs out, as the call may still take effect
    }

    /**
     * Changes the rows. Deletes and accepts in one transaction, so that a reader who
     * misses the row of a message finds the accepted request that has ended it.
     * @param retryDelay when requests without an effect are offered again
     * @param onRefusal receives requests that the store refuses, which become dead
     * letters, maybe several times
     */
    void record(Duration retryDelay, BiConsumer<JournalRow, MessageGroupChangeException> onRefusal) {
        List<Long> waiting = waiting();
        this.table.change(this.deleted, this.accepted);
        this.table.deleteOwn(this.answered);
        this.table.release(this.withoutEffect, retryDelay);
        this.table.release(waiting, this.table.claim());
        this.refused.forEach((row, failure) -> refuse(row, failure, retryDelay, onRefusal));
    }

    /**
     * Returns sends that were kept out by a message that is not to be there: an older
     * copy of the store has it, although it was cancelled or has ended. The others are
     * over.
     */
    private List<Long> waiting() {
        if (this.kept.isEmpty()) {
            return List.of();
        }
        EarlierRows earlier = EarlierRows.of(this.table, this.kept);
        List<JournalRow> doubtful = new ArrayList<>();
        for (JournalRow row : this.kept) {
            if (earlier.message(row).isPresent()) {
                this.answered.add(row.revision());
            }
            else {
                doubtful.add(row);
            }
        }
        if (doubtful.isEmpty()) {
            return List.of();
        }
        List<HeldRevision> held;
        try {
            held = this.store.held(doubtful).join();
        }
        catch (DelayQueueException | CompletionException ex) {
            // The answers of other queues are recorded nevertheless.
            this.unanswered = StoreFailures.unwrap(ex);
            return doubtful.stream().map(JournalRow::revision).toList();
        }
        List<Long> waiting = new ArrayList<>();
        for (int i = 0; i < doubtful.size(); i++) {
            long revision = doubtful.get(i).revision();
            boolean outdated = !held.get(i).known() && held.get(i).held() != 0;
            (outdated ? waiting : this.answered).add(revision);
        }
        return waiting;
    }

    /**
     * Makes a dead letter of a request that the store refuses for good. The row is
     * deleted last, so a repetition does the same again.
     */
    private void refuse(JournalRow row, MessageGroupChangeException failure, Duration retryDelay,
            BiConsumer<JournalRow, MessageGroupChangeException> onRefusal) {
        try {
            LedgerTable.Row deadLetter = this.store.refuse(row, String.valueOf(failure.getMessage()));
            onRefusal.accept(row, failure);
            this.ledger.recordRefused(row, deadLetter, this.offers.keepsRows(row.request().queue()));
        }
        catch (DelayQueueException | CompletionException ex) {
            this.unanswered = StoreFailures.unwrap(ex);
            this.table.release(List.of(row.revision()), retryDelay);
        }
    }

}
