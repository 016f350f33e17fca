package io.delayqueue.journal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

import io.delayqueue.CancelResult;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.JournalRequestRefusedEvent;
import io.delayqueue.QueueName;
import io.delayqueue.RescheduleResult;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.journal.JournalRequest.Operation;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.MessageGroupChangeException;
import io.delayqueue.store.StoreFailures;
import io.delayqueue.store.StoreFutures;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds the requests that the store is applying, and changes their rows by its answers.
 * <p>
 * <strong>Threads.</strong> Confined to that of the relay; answers come on others.
 */
final class RelayedRequests {

    private static final Logger logger = LoggerFactory.getLogger(RelayedRequests.class);

    /** How long a request rests that the store did not answer. */
    static final Duration RETRY_DELAY = Duration.ofSeconds(1);

    /** How long a batch waits for the first answers of the store for its queues. */
    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(1);

    /** How long answers are collected, to record several at once. */
    private static final Duration COLLECTION = Duration.ofMillis(5);

    private final JournalTable table;

    private final LedgerTable ledger;

    private final OfferSender offers;

    private final LedgerLookup store;

    private final JournalStatus status;

    private final Consumer<Object> publisher;

    private final Runnable onAnswer;

    private final List<Offered> offered = new ArrayList<>();

    /** The queues of which the store did not answer last, so that no batch waits. */
    private final Set<QueueName> silent = new HashSet<>();

    /** Number of answers that are not recorded. */
    private final AtomicLong answers = new AtomicLong();

    /** When answers were recorded last, in nanoseconds of the monotonic clock. */
    private long recordedAt = System.nanoTime();

    RelayedRequests(JournalTable table, OfferSender offers, LedgerLookup store, JournalStatus status,
            Consumer<Object> publisher, Runnable onAnswer) {
        this.table = table;
        this.ledger = new LedgerTable(table.database());
        this.offers = offers;
        this.store = store;
        this.status = status;
        this.publisher = publisher;
        this.onAnswer = onAnswer;
    }

    int size() {
        return this.offered.size();
    }

    /**
     * Returns whether requests of a queue are left for later: the store did not answer
     * for it last, it belongs to another journal, or the database is older than the
     * store.
     */
    boolean isLeft(QueueName queue) {
        return this.silent.contains(queue) || this.status.isLeftAlone(queue);
    }

    /** Returns how long answers are to be collected, in nanoseconds. */
    long untilRecord() {
        return (this.answers.get() == 0) ? Long.MAX_VALUE
                : Math.max(0, this.recordedAt + COLLECTION.toNanos() - System.nanoTime());
    }

    /**
     * Offers requests to the store.
     * @param submissions those of this node, by their rows
     * @param begin when the rows were about to be read, in nanoseconds of the monotonic
     * clock; they have at least half of their claims from then on
     */
    void offer(List<JournalRow> read, Map<Long, Submission> submissions, long begin) throws InterruptedException {
        List<JournalRow> rows = offerable(read, submissions).stream().map(this.offers::resolved).toList();
        List<JournalRow> current = rows.stream().filter((row) -> !row.superseded()).toList();
        EarlierRows earlier = EarlierRows.ofChanges(this.table, current);
        List<JournalRow> plain = current.stream().filter((row) -> !isOccurrence(row)).toList();
        List<CompletableFuture<?>> sent = this.offers.requests(plain, earlier, begin);
        for (int i = 0; i < plain.size(); i++) {
            JournalRow row = plain.get(i);
            add(row, restoring(row, sent.get(i), earlier, begin), earlier, submissions.get(row.revision()), begin);
        }
        current.stream()
            .filter(RelayedRequests::isOccurrence)
            .forEach((row) -> add(row, settling(row, earlier, begin), earlier, null, begin));
        for (JournalRow row : rows) {
            if (row.superseded()) {
                add(row, CompletableFuture.completedFuture(superseded(row)), earlier, submissions.get(row.revision()),
                        begin);
            }
        }
    }

    private static boolean isOccurrence(JournalRow row) {
        return row.request().operation() == Operation.OCCURRENCE;
    }

    /**
     * Offers an occurrence whose node has left its row behind, unless the row is over.
     */
    private CompletableFuture<?> settling(JournalRow row, EarlierRows earlier, long begin) {
        return StoreFutures.send(() -> this.store.isOver(row))
            .thenComposeAsync((over) -> over ? CompletableFuture.completedFuture(superseded(row))
                    : this.offers.requests(List.of(row), earlier, begin).get(0).thenApply((answer) -> (Object) answer));
    }

    /**
     * Adds a request whose answer is done only after the sender has got it: a request
     * with a done answer is recorded, and one that is recorded without an answer is left.
     */
    private void add(JournalRow row, CompletableFuture<?> answer, EarlierRows earlier, @Nullable Submission submission,
            long begin) {
        CompletableFuture<?> passedOn = answer.whenComplete((result, failure) -> {
            if (result != null && submission != null) {
                submission.answer().complete(Optional.of(result));
            }
        });
        this.offered.add(new Offered(row, passedOn, earlier, submission, begin));
        passedOn.whenComplete((result, failure) -> {
            this.answers.incrementAndGet();
            this.onAnswer.run();
        });
    }

    /**
     * Restores a message that the store has lost, with the due time of a reschedule that
     * did not find it.
     */
    private CompletableFuture<?> restoring(JournalRow row, CompletableFuture<?> answer, EarlierRows earlier,
            long begin) {
        DueTime due = row.request().due();
        // In an outbox only a message from a ledger has a row.
        JournalRow lost = (row.request().message() == null && due != null) ? earlier.message(row).orElse(null) : null;
        if (due == null || lost == null) {
            return answer;
        }
        return answer.thenComposeAsync((result) -> (result != RescheduleResult.NOT_FOUND)
                ? CompletableFuture.completedFuture(result) : restore(row, lost, earlier, begin));
    }

    /**
     * Restores a message with the due time of a reschedule. If another node has restored
     * it meanwhile, with its former due time, offers the reschedule again.
     */
    private CompletableFuture<Object> restore(JournalRow reschedule, JournalRow lost, EarlierRows earlier, long begin) {
        return this.offers.restore(lost, Objects.requireNonNull(reschedule.request().due()), begin)
            .thenComposeAsync((sent) -> switch (sent.outcome()) {
                case SCHEDULED -> CompletableFuture.completedFuture(RescheduleResult.RESCHEDULED);
                case RECORDED -> this.offers.requests(List.of(reschedule), earlier, begin)
                    .get(0)
                    .thenApply((answer) -> (Object) answer);
                default -> CompletableFuture.completedFuture(RescheduleResult.NOT_FOUND);
            });
    }

    /**
     * Leaves requests for later that are on queues of another journal, or of which the
     * store has not answered yet, or in a database that is older than the store.
     */
    private List<JournalRow> offerable(List<JournalRow> rows, Map<Long, Submission> submissions)
            throws InterruptedException {
        List<JournalRow> offerable = new ArrayList<>();
        List<Long> foreign = new ArrayList<>();
        List<Long> unknown = new ArrayList<>();
        long limit = System.nanoTime() + ANSWER_LIMIT.toNanos();
        Set<QueueName> seen = new HashSet<>();
        for (JournalRow row : rows) {
            QueueName queue = row.request().queue();
            if (seen.add(queue)) {
                awaitAnswer(queue, limit);
            }
            if (this.silent.contains(queue)) {
                unknown.add(row.revision());
            }
            else if (this.status.isLeftAlone(queue)) {
                foreign.add(row.revision());
            }
            else {
                offerable.add(row);
            }
        }
        foreign.forEach((revision) -> leave(submissions.get(revision)));
        unknown.forEach((revision) -> leave(submissions.get(revision)));
        this.table.release(foreign, this.table.claim());
        if (!unknown.isEmpty()) {
            this.table.release(unknown, RETRY_DELAY);
            unanswered(new StoreUnavailableException("Redis does not answer for queues " + this.silent, Effect.NONE,
                    null));
        }
        return offerable;
    }

    /**
     * Waits until the store has returned the journal and the time of a queue. Does not
     * wait for a queue that was silent the last time, so that it delays no other queue.
     * @param limit until when, in nanoseconds of the monotonic clock
     */
    private void awaitAnswer(QueueName queue, long limit) throws InterruptedException {
        CompletableFuture<Void> prepared = this.offers.prepared(queue);
        boolean answered;
        try {
            answered = !this.offers.keepsRows(queue)
                    || this.status.pairs().awaitCompared(queue, Duration.ofNanos(rest(queue, limit)));
            prepared.get(rest(queue, limit), TimeUnit.NANOSECONDS);
        }
        catch (ExecutionException | TimeoutException ex) {
            answered = false;
        }
        if (answered) {
            this.silent.remove(queue);
        }
        else {
            this.silent.add(queue);
        }
    }

    private long rest(QueueName queue, long limit) {
        return this.silent.contains(queue) ? 0 : Math.max(0, limit - System.nanoTime());
    }

    /**
     * Changes the rows of the requests that the store has answered, once enough have come
     * or some time has passed.
     * @param now whether to record all that are there
     * @return how many the store has applied
     */
    int record(boolean now) {
        if (!now && this.answers.get() < JournalTable.BATCH_LIMIT / 2 && untilRecord() > 0 && !isLate()) {
            return 0;
        }
        this.recordedAt = System.nanoTime();
        this.answers.set(0); // before the answers are read, so that none is missed
        List<Offered> ended = new ArrayList<>();
        for (Iterator<Offered> each = this.offered.iterator(); each.hasNext();) {
            Offered request = each.next();
            if (request.answer().isDone() || isLate(request)) {
                ended.add(request);
                each.remove();
            }
        }
        return ended.isEmpty() ? 0 : record(ended);
    }

    private boolean isLate() {
        return !this.offered.isEmpty() && isLate(this.offered.get(0));
    }

    /** Returns whether the store has rejected a request by now, or will not answer. */
    private boolean isLate(Offered request) {
        return System.nanoTime() - request.begin() > this.table.claim().dividedBy(2).toNanos();
    }

    private int record(List<Offered> ended) {
        RelayedBatch batch = new RelayedBatch(this.table, this.ledger, this.offers, this.store);
        Map<JournalRow, Submission> submissions = new LinkedHashMap<>();
        for (Offered request : ended) {
            add(batch, request);
            if (request.submission() != null) {
                submissions.put(request.row(), request.submission());
            }
        }
        try {
            batch.record(RETRY_DELAY, (row, failure) -> refused(row, failure, submissions.get(row)));
        }
        finally {
            submissions.values().forEach(Submission::leave);
        }
        this.status.addApplied(batch.applied());
        Throwable unanswered = batch.unanswered();
        if (unanswered != null) {
            unanswered(unanswered);
        }
        return batch.applied();
    }

    private void unanswered(Throwable failure) {
        if (this.status.relay(failure)) {
            logger.warn("Requests of the journal wait, and are applied later: {}", failure.toString());
        }
    }

    private static void add(RelayedBatch batch, Offered request) {
        if (!request.answer().isDone()) {
            batch.addFailure(request.row(),
                    new StoreUnavailableException("The store does not answer", Effect.UNKNOWN, null));
            return;
        }
        try {
            Object answer = request.answer().join();
            if (request.row().superseded()) {
                batch.addSuperseded(request.row());
            }
            else {
                batch.add(request.row(), answer, request.earlier());
            }
        }
        catch (RuntimeException ex) {
            batch.addFailure(request.row(), StoreFailures.unwrap(ex));
        }
    }

    /** Returns the answer to a request after a later one of its id was applied. */
    private static Object superseded(JournalRow row) {
        JournalRequest request = row.request();
        return switch (request.operation()) {
            case SEND, OCCURRENCE -> new SendResult(request.queue().value(), request.id(), null, SendOutcome.KEPT);
            case RESCHEDULE -> RescheduleResult.NOT_FOUND;
            case CANCEL -> CancelResult.NOT_FOUND;
        };
    }

    private static void leave(@Nullable Submission submission) {
        if (submission != null) {
            submission.leave();
        }
    }

    private void refused(JournalRow row, MessageGroupChangeException failure, @Nullable Submission submission) {
        JournalRequest request = row.request();
        logger.error("The store refused a request of the journal for good, which becomes a dead letter: {}",
                failure.getMessage());
        if (submission != null) {
            submission.answer().completeExceptionally(failure);
        }
        try {
            this.publisher.accept(new JournalRequestRefusedEvent(request.queue().value(), request.id(), failure));
        }
        catch (RuntimeException ex) {
            logger.error("A listener of JournalRequestRefusedEvent failed", ex);
        }
    }

    /**
     * Holds a request that the store is applying.
     *
     * @param answer the answer of the store, done once the sender has it
     * @param earlier the accepted rows of its id
     * @param submission of this node; {@code null} for a request that was abandoned
     * @param begin when its row was about to be read, in nanoseconds of the monotonic
     * clock
     */
    private record Offered(JournalRow row, CompletableFuture<?> answer, EarlierRows earlier,
            @Nullable Submission submission, long begin) {
    }

}
