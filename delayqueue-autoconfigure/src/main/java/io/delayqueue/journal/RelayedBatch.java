package io.delayqueue.journal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.delayqueue.CancelResult;
import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.NotReplicatedException;
import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.RescheduleResult;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.store.MessageGroupChangeException;
import io.delayqueue.store.NewMessage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Collects the answers of the store to a batch of requests, and changes their rows
 * accordingly. The rows of an outbox are deleted when their requests are applied. A
 * ledger keeps the row of a message that the store holds. It also keeps the row of a
 * cancel for a time, since an older copy of the store could bring the message back.
 */
final class RelayedBatch {

    private static final Logger logger = LoggerFactory.getLogger(RelayedBatch.class);

    /** How long the row of a cancel is kept after the message would have been due. */
    private static final Duration CANCEL_MEMORY = Duration.ofHours(1);

    private final JournalTable table;

    private final JournalOffers offers;

    private final List<Long> deleted = new ArrayList<>();

    private final List<Long> answered = new ArrayList<>();

    private final List<AcceptedRequest> accepted = new ArrayList<>();

    private final List<Long> withoutEffect = new ArrayList<>();

    private final Map<JournalRow, MessageGroupChangeException> refused = new LinkedHashMap<>();

    private @Nullable Throwable unanswered;

    private int applied;

    RelayedBatch(JournalTable table, JournalOffers offers) {
        this.table = table;
        this.offers = offers;
    }

    /** Returns the requests that the store rejects for good. */
    Map<JournalRow, MessageGroupChangeException> refused() {
        return this.refused;
    }

    /** Returns a failure without an answer, if there was any. */
    @Nullable Throwable unanswered() {
        return this.unanswered;
    }

    /** Returns the number of requests that the store has applied. */
    int applied() {
        return this.applied;
    }

    /** Adds a request that a later one has superseded. */
    void addSuperseded(JournalRow row) {
        this.deleted.add(row.revision());
    }

    /** Adds the answer to a request. */
    void add(JournalRow row, Object answer) {
        this.applied++;
        if (!this.offers.isLedger(row.request().queue())) {
            this.deleted.add(row.revision());
        }
        else if (answer instanceof SendResult sent) {
            addSend(row, sent);
        }
        else if (answer instanceof CancelResult) {
            addCancel(row);
        }
        else if (answer == RescheduleResult.RESCHEDULED) {
            addReschedule(row);
        }
        else {
            this.answered.add(row.revision());
        }
    }

    private void addSend(JournalRow row, SendResult sent) {
        if (sent.outcome() == SendOutcome.KEPT || sent.dueAt() == null) {
            this.answered.add(row.revision());
            return;
        }
        QueueName queue = row.request().queue();
        if (sent.outcome() == SendOutcome.REPLACED || replacesLost(row, sent)) {
            before(row).forEach((earlier) -> this.deleted.add(earlier.revision()));
        }
        long due = sent.dueAt().toEpochMilli();
        this.accepted.add(new AcceptedRequest(row.revision(), due, this.offers.nextCheck(queue, due)));
    }

    /**
     * Returns whether a send would have replaced an earlier message that the store has
     * not any more.
     */
    private static boolean replacesLost(JournalRow row, SendResult sent) {
        NewMessage message = row.request().message();
        return sent.outcome() == SendOutcome.SCHEDULED && message != null
                && message.onDuplicate() == OnDuplicate.REPLACE;
    }

    private void addCancel(JournalRow row) {
        List<JournalRow> before = before(row);
        before.forEach((earlier) -> this.deleted.add(earlier.revision()));
        QueueName queue = row.request().queue();
        long due = before.stream().mapToLong((earlier) -> dueOf(earlier)).max().orElse(0);
        this.accepted
            .add(new AcceptedRequest(row.revision(), null, this.offers.nextCheck(queue, due).plus(CANCEL_MEMORY)));
    }

    private long dueOf(JournalRow row) {
        return (row.request().due() != null) ? this.offers.millis(row.request().queue(), row.request().due()) : 0;
    }

    /** Moves the due time of the reschedule to the row of the message. */
    private void addReschedule(JournalRow row) {
        QueueName queue = row.request().queue();
        Optional<JournalRow> message = message(row);
        if (message.isEmpty()) {
            this.answered.add(row.revision());
            return;
        }
        long due = dueOf(row);
        this.table.reschedule(row.revision(), message.get().revision(), due, this.offers.nextCheck(queue, due));
    }

    /** Returns the row of the message that a request is about. */
    Optional<JournalRow> message(JournalRow row) {
        return before(row).stream().filter((each) -> each.request().message() != null).reduce((one, next) -> next);
    }

    private List<JournalRow> before(JournalRow row) {
        return this.table.acceptedBefore(row.request().queue(), row.request().id(), row.revision());
    }

    /** Adds a request without an answer, or one that the store rejects. */
    void addFailure(JournalRow row, Throwable failure) {
        if (failure instanceof MessageGroupChangeException group) {
            this.refused.put(row, group);
            this.answered.add(row.revision());
            return;
        }
        if (failure instanceof NotReplicatedException) {
            logger.warn("A request of the journal is stored on fewer replicas than wanted: {}", failure.getMessage());
            if (!this.offers.isLedger(row.request().queue())) {
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
     * Changes the rows. Rows that others depend on are deleted first.
     * @param retryDelay when requests without an effect are offered again
     */
    void record(Duration retryDelay) {
        this.table.delete(this.deleted);
        this.table.deleteOwn(this.answered);
        this.table.accept(this.accepted);
        this.table.release(this.withoutEffect, retryDelay);
    }

}
