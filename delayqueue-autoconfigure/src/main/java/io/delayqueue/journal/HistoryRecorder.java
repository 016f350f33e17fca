package io.delayqueue.journal;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;

import io.delayqueue.CancelResult;
import io.delayqueue.DeadLetterEvent;
import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.QueueName;
import io.delayqueue.RedriveResult;
import io.delayqueue.RescheduleResult;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.admin.HistoryEntry.Event;
import io.delayqueue.CauseMasking;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.DeadLetterRequest;
import io.delayqueue.store.DelegatingMessageStore;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.ExpiredMessagesLog;
import io.delayqueue.store.Lease;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.OfferConditions;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.RecentLeases;
import io.delayqueue.store.StoreFailures;
import io.delayqueue.store.Texts;
import io.delayqueue.store.UnstartedLease;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Records the transitions of messages, and leaves the work to another store. Does not
 * wait, as the consumer of the rows must not block or throw. Thread-safe.
 * <p>
 * The transition of a sender or of a settlement counts from the start of its call, and a
 * claim from its answer. So the transitions of a message that one process records have
 * the order in which they happened.
 */
final class HistoryRecorder extends DelegatingMessageStore {

    private static final Logger logger = LoggerFactory.getLogger(HistoryRecorder.class);

    /** Maximum number of characters of a detail. */
    static final int DETAIL_LIMIT = 500;

    private static final String EXPIRED = "expired";

    private static final String DEAD_LETTERED = "dead-lettered";

    private final Predicate<QueueName> recorded;

    private final boolean causes;

    private final Consumer<HistoryRow> rows;

    private final LongSupplier nanoTime;

    /** The last leases that were settled by calls that consumers over HTTP may repeat. */
    private final RecentLeases settled = new RecentLeases();

    /**
     * Creates a recorder.
     * @param store does the work
     * @param recorded selects the queues
     * @param causes whether the messages of exceptions are recorded
     * @param rows receives each transition
     * @param nanoTime the monotonic clock
     */
    HistoryRecorder(MessageStore store, Predicate<QueueName> recorded, boolean causes, Consumer<HistoryRow> rows,
            LongSupplier nanoTime) {
        super(store);
        this.recorded = recorded;
        this.causes = causes;
        this.rows = rows;
        this.nanoTime = nanoTime;
    }

    @Override
    public CompletableFuture<List<SendResult>> schedule(PartitionTarget target, List<NewMessage> messages) {
        Trace trace = trace(target.queue());
        CompletableFuture<List<SendResult>> answer = store().schedule(target, messages);
        return (trace == null) ? answer : recording(answer, (results, failure) -> {
            if (results != null) {
                boolean restored = isRepeated(target);
                results.forEach((result) -> trace.sent(result, restored));
            }
            else if (!isRepeated(target)) {
                trace.doubtfulSends(messages, failure);
            }
        });
    }

    @Override
    public CompletableFuture<List<Optional<SendResult>>> scheduleIfHeld(PartitionTarget target,
            List<NewMessage> messages) {
        return recording(target.queue(), () -> store().scheduleIfHeld(target, messages), (trace, results) -> results
            .forEach((result) -> result.ifPresent((sent) -> trace.sent(sent, isRepeated(target)))));
    }

    @Override
    public CompletableFuture<ClaimResult> claim(Partition partition, ClaimRequest request) {
        CompletableFuture<ClaimResult> answer = store().claim(partition, request);
        return !this.recorded.test(partition.queue()) ? answer : recording(answer, (claim, failure) -> {
            if (claim != null) {
                claimed(new Trace(partition.queue()), claim);
            }
        });
    }

    private void claimed(Trace trace, ClaimResult claim) {
        for (DeadLetterEvent deadLetter : claim.deadLettered()) {
            if (ExpiredMessagesLog.isExpired(deadLetter)) {
                trace.add(deadLetter.id(), Event.EXPIRED, DEAD_LETTERED);
            }
            else {
                trace.add(deadLetter.id(), Event.DEAD_LETTERED, cause(deadLetter.reason()));
            }
        }
        for (ClaimedMessage message : claim.messages()) {
            // A clock that stands still may give a lease the token of an earlier one.
            this.settled.remove(message.lease());
            trace.add(message.lease().id(), Event.CLAIMED, message.failures() + 1,
                    message.redelivered() ? "redelivered, as its last lease ran out" : null);
        }
    }

    @Override
    public CompletableFuture<List<Boolean>> acknowledge(Partition partition, List<Lease> leases) {
        return recording(partition.queue(), () -> store().acknowledge(partition, leases),
                (trace, answers) -> trace.settled(leases, answers, Event.HANDLED, null));
    }

    @Override
    public CompletableFuture<Boolean> expire(Lease lease) {
        return recording(lease.queue(), () -> store().expire(lease),
                (trace, done) -> trace.settled(lease, done, Event.EXPIRED, "dropped"));
    }

    @Override
    public CompletableFuture<Boolean> retry(Lease lease, Duration delay, String failure) {
        return recording(lease.queue(), () -> store().retry(lease, delay, failure),
                (trace, done) -> once(lease, done, () -> {
                    trace.add(lease.id(), Event.FAILED, cause(failure));
                    trace.settled(lease, done, Event.RETRIED, dueIn(delay));
                }));
    }

    @Override
    public CompletableFuture<List<Boolean>> release(Partition partition, List<Lease> leases, Duration delay) {
        return recording(partition.queue(), () -> store().release(partition, leases, delay), (trace, answers) -> {
            for (int i = 0; i < leases.size(); i++) {
                Lease lease = leases.get(i);
                boolean done = answers.get(i);
                once(lease, done, () -> trace.settled(lease, done, Event.RELEASED, dueIn(delay)));
            }
        });
    }

    @Override
    public CompletableFuture<List<Boolean>> release(Partition partition, List<UnstartedLease> leases) {
        return recording(partition.queue(), () -> store().release(partition, leases), (trace, answers) -> trace
            .settled(leases.stream().map(UnstartedLease::lease).toList(), answers, Event.RELEASED, "not started"));
    }

    @Override
    public CompletableFuture<Boolean> deadLetter(Lease lease, DeadLetterRequest request) {
        return recording(lease.queue(), () -> store().deadLetter(lease, request),
                (trace, done) -> once(lease, done, () -> {
                    if (request.failed()) {
                        trace.add(lease.id(), Event.FAILED, cause(request.cause()));
                    }
                    if (request.cause().equals(EXPIRED)) {
                        trace.settled(lease, done, Event.EXPIRED, DEAD_LETTERED);
                    }
                    else {
                        trace.settled(lease, done, Event.DEAD_LETTERED, cause(request.cause()));
                    }
                }));
    }

    @Override
    public CompletableFuture<CancelResult> cancel(PartitionTarget target, String id) {
        return recording(target.queue(), () -> store().cancel(target, id), (trace, result) -> {
            if (!isRepeated(target) && (result == CancelResult.CANCELLED || result == CancelResult.LEASED)) {
                trace.add(id, Event.CANCELLED,
                        (result == CancelResult.LEASED) ? "while it is handled, so it is not retried" : null);
            }
        });
    }

    @Override
    public CompletableFuture<RescheduleResult> reschedule(PartitionTarget target, String id, DueTime due) {
        return recording(target.queue(), () -> store().reschedule(target, id, due), (trace, result) -> {
            if (!isRepeated(target) && result == RescheduleResult.RESCHEDULED) {
                trace.add(id, Event.RESCHEDULED, due.relative() ? dueIn(Duration.ofMillis(due.millis()))
                        : "due at " + Instant.ofEpochMilli(due.millis()));
            }
        });
    }

    @Override
    public CompletableFuture<RedriveResult> redrive(PartitionTarget target, String deadLetterId) {
        return recording(target.queue(), () -> store().redrive(target, deadLetterId), (trace, result) -> {
            if (result == RedriveResult.REDRIVEN) {
                trace.add(Lease.idOf(deadLetterId), Event.REDRIVEN, null);
            }
        });
    }

    @Override
    public CompletableFuture<Boolean> purge(Partition partition, String deadLetterId) {
        return recording(partition.queue(), () -> store().purge(partition, deadLetterId),
                (trace, done) -> trace.removed(deadLetterId, done, Event.PURGED));
    }

    @Override
    public CompletableFuture<Boolean> removeRedriven(Partition partition, String deadLetterId) {
        return recording(partition.queue(), () -> store().removeRedriven(partition, deadLetterId),
                (trace, done) -> trace.removed(deadLetterId, done, Event.REDRIVEN));
    }

    /**
     * Returns whether a journal repeats what the store has lost. A cancel or a reschedule
     * was recorded at its time, and one of a message that has ended never happened.
     */
    private static boolean isRepeated(PartitionTarget target) {
        OfferConditions offer = target.offer();
        return offer != null && offer.restores();
    }

    /** Makes a call and records its answer. */
    private <T> CompletableFuture<T> recording(QueueName queue, Supplier<CompletableFuture<T>> call,
            BiConsumer<Trace, T> onAnswer) {
        Trace trace = trace(queue);
        CompletableFuture<T> answer = call.get();
        return (trace == null) ? answer : recording(answer, (value, failure) -> {
            if (value != null) {
                onAnswer.accept(trace, value);
            }
        });
    }

    /**
     * Returns a future that completes after the answer is recorded, so that a caller that
     * has the answer finds its row in the buffer. A failure to record is logged only.
     */
    private static <T> CompletableFuture<T> recording(CompletableFuture<T> answer,
            BiConsumer<@Nullable T, @Nullable Throwable> recorder) {
        return answer.whenComplete((value, failure) -> {
            try {
                recorder.accept(value, failure);
            }
            catch (RuntimeException ex) {
                logger.warn("A transition is missing in the history, as its row could not be made", ex);
            }
        });
    }

    /**
     * Records a settlement, unless the lease is one of those settled last: then the call
     * is repeated, and has changed nothing.
     */
    private void once(Lease lease, boolean done, Runnable transitions) {
        boolean repeated = done ? !this.settled.add(lease) : this.settled.contains(lease);
        if (!repeated) {
            transitions.run();
        }
    }

    private @Nullable Trace trace(QueueName queue) {
        return this.recorded.test(queue) ? new Trace(queue) : null;
    }

    private static String dueIn(Duration delay) {
        return delay.isZero() ? "due now" : "due in " + Texts.span(delay);
    }

    /** Returns the first line of a cause, without the stack trace below. */
    private @Nullable String cause(String cause) {
        if (this.causes) {
            return cause.lines().findFirst().orElse(null);
        }
        String masked = CauseMasking.masked(cause);
        return masked.equals(CauseMasking.MASKED) ? null : masked;
    }

    /** Records the transitions of one call, all at the time of its creation. */
    private final class Trace {

        private final QueueName queue;

        private final long nanos = HistoryRecorder.this.nanoTime.getAsLong();

        Trace(QueueName queue) {
            this.queue = queue;
        }

        void add(String id, Event event, @Nullable String detail) {
            add(id, event, null, detail);
        }

        void add(String id, Event event, @Nullable Integer attempt, @Nullable String detail) {
            String line = (detail != null) ? Texts.line(detail, DETAIL_LIMIT) : null;
            HistoryRecorder.this.rows.accept(new HistoryRow(this.queue, id, this.nanos, event, attempt, line));
        }

        void sent(SendResult result, boolean restored) {
            if (result.outcome() == SendOutcome.RECORDED || result.outcome() == SendOutcome.DEDUPLICATED) {
                return; // the queue held it already, or keeps its id out
            }
            if (restored && result.outcome() == SendOutcome.KEPT) {
                return; // it has ended, or a later message has its id
            }
            add(result.id(), Event.SENT,
                    (restored ? "restored after a loss" : result.outcome()) + ", due at " + result.dueAt());
        }

        void doubtfulSends(List<NewMessage> messages, @Nullable Throwable failure) {
            if (failure != null && StoreFailures.unwrap(failure) instanceof DelayQueueException known
                    && known.effect() != Effect.NONE) {
                String detail = (known.effect() == Effect.STORED) ? "stored, but not replicated as required"
                        : "no answer, so it may not be stored";
                messages.forEach((message) -> add(message.id(), Event.SENT, detail));
            }
        }

        void settled(List<Lease> leases, List<Boolean> answers, Event event, @Nullable String detail) {
            for (int i = 0; i < leases.size(); i++) {
                settled(leases.get(i), answers.get(i), event, detail);
            }
        }

        void settled(Lease lease, boolean done, Event event, @Nullable String detail) {
            if (done) {
                add(lease.id(), event, detail);
            }
            else {
                add(lease.id(), Event.LEASE_LOST, "not " + event);
            }
        }

        void removed(String deadLetterId, boolean done, Event event) {
            if (done) {
                add(Lease.idOf(deadLetterId), event, null);
            }
        }

    }

}
