package io.delayqueue.journal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.delayqueue.CancelResult;
import io.delayqueue.JournalRequestRefusedEvent;
import io.delayqueue.RescheduleResult;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.MessageGroupChangeException;
import io.delayqueue.store.StoreFailures;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.SmartLifecycle;

/**
 * Applies committed requests to the store: those of this node at once, and those whose
 * node left them behind when their claims have run out. Applies the requests of an id one
 * after another, in the order of their revisions.
 * <p>
 * <strong>Threads.</strong> One thread runs all statements, and waits for the store; so
 * the relay uses one connection. {@link #submit} may be called from any thread.
 */
final class JournalRelay implements SmartLifecycle {

    private static final Logger logger = LoggerFactory.getLogger(JournalRelay.class);

    /** How often a relay that waits for the first comparison reads whether it ended. */
    private static final Duration COMPARISON_INTERVAL = Duration.ofMillis(100);

    /** How often rows that other nodes left behind are searched. */
    private static final Duration INTERVAL = Duration.ofSeconds(1);

    /** How long a request rests that the store did not answer. */
    private static final Duration RETRY_DELAY = Duration.ofSeconds(1);

    private static final int PHASE = 1001;

    /** How long a stop waits for the requests that are being applied. */
    private static final Duration STOP_LIMIT = Duration.ofSeconds(10);

    private final JournalTable table;

    private final JournalOffers offers;

    private final JournalStatus status;

    private final Consumer<Object> publisher;

    private final BlockingQueue<Submission> submissions = new LinkedBlockingQueue<>();

    private @Nullable Thread thread;

    private volatile boolean running;

    JournalRelay(JournalTable table, JournalOffers offers, JournalStatus status, Consumer<Object> publisher) {
        this.table = table;
        this.offers = offers;
        this.status = status;
        this.publisher = publisher;
    }

    /**
     * Applies a committed request soon.
     * @return the answer of the store; empty if there is none yet
     */
    CompletableFuture<Optional<Object>> submit(long revision, long insertedAt) {
        Submission submission = new Submission(revision, insertedAt, new CompletableFuture<>());
        this.submissions.add(submission);
        if (!this.running) {
            drain();
        }
        return submission.answer();
    }

    @Override
    public synchronized void start() {
        if (!this.running) {
            this.table.requireTables();
            this.running = true;
            Thread started = new Thread(this::run, "delayqueue-journal");
            started.setDaemon(true);
            started.start();
            this.thread = started;
        }
    }

    /** Ends the thread after the requests that it is applying. */
    @Override
    public synchronized void stop() {
        this.running = false;
        Thread stopped = this.thread;
        if (stopped != null) {
            this.submissions.add(Submission.NONE);
            try {
                stopped.join(STOP_LIMIT.toMillis());
            }
            catch (InterruptedException ex) {
                Thread.currentThread().interrupt();
            }
            this.thread = null;
        }
        drain();
    }

    @Override
    public boolean isRunning() {
        return this.running;
    }

    /**
     * Starts after the check of the server and before the listeners; stops after them.
     */
    @Override
    public int getPhase() {
        return PHASE;
    }

    /** Reports requests as recorded that this process applies no more. */
    private void drain() {
        List<Submission> rest = new ArrayList<>();
        this.submissions.drainTo(rest);
        rest.forEach((submission) -> submission.answer().complete(Optional.empty()));
    }

    private void run() {
        long next = System.nanoTime();
        boolean compared = false;
        while (this.running) {
            try {
                if (!compared) {
                    compared = this.status.awaitCompared(COMPARISON_INTERVAL);
                    continue;
                }
                List<Submission> batch = await(next - System.nanoTime());
                boolean left = relay(batch);
                if (left || next - System.nanoTime() <= 0) {
                    next = System.nanoTime() + INTERVAL.toNanos();
                    if (relayAbandoned()) {
                        next = System.nanoTime(); // after the requests that came
                                                  // meanwhile
                    }
                }
            }
            catch (InterruptedException ex) {
                logger.debug("Interrupted by a callback of an answer", ex);
            }
            catch (RuntimeException | Error ex) {
                failed(ex);
            }
        }
    }

    private List<Submission> await(long nanos) throws InterruptedException {
        List<Submission> batch = new ArrayList<>();
        Submission first = this.submissions.poll(Math.max(0, nanos), TimeUnit.NANOSECONDS);
        if (first != null) {
            batch.add(first);
            this.submissions.drainTo(batch, JournalTable.BATCH_LIMIT - 1);
            batch.remove(Submission.NONE);
        }
        return batch;
    }

    /**
     * Applies requests of this node.
     * @return whether some were left to {@link #relayAbandoned}
     */
    private boolean relay(List<Submission> batch) {
        if (batch.isEmpty()) {
            return false;
        }
        try {
            long begin = System.nanoTime();
            long latest = begin - this.table.claim().dividedBy(2).toNanos();
            Map<Long, Submission> current = new LinkedHashMap<>();
            List<Long> left = new ArrayList<>();
            for (Submission submission : batch) {
                if (submission.insertedAt() - latest > 0) {
                    current.put(submission.revision(), submission);
                }
                else {
                    left.add(submission.revision()); // of a long transaction: its claim
                                                     // may end
                }
            }
            List<JournalRow> rows = current.isEmpty() ? List.of() : this.table.read(current.keySet());
            rows.stream().filter(JournalRow::behind).map(JournalRow::revision).forEach(left::add);
            apply(rows.stream().filter((row) -> !row.behind()).toList(), current, begin);
            this.table.release(left, Duration.ofMillis(-1));
            return !left.isEmpty();
        }
        finally {
            batch.forEach((submission) -> submission.answer().complete(Optional.empty()));
        }
    }

    /** Returns whether there may be more. */
    private boolean relayAbandoned() {
        List<Long> claimed = this.table.claimAbandoned(RETRY_DELAY);
        if (claimed.isEmpty()) {
            return false;
        }
        long begin = System.nanoTime();
        return apply(this.table.read(claimed), Map.of(), begin);
    }

    /**
     * Offers requests to the store, and changes their rows by its answers.
     * @param begin when the rows were about to be read, in nanoseconds of the monotonic
     * clock; they have at least half of their claims from then on
     * @return whether the store answered all
     */
    private boolean apply(List<JournalRow> read, Map<Long, Submission> submissions, long begin) {
        List<JournalRow> rows = withoutForeign(read).stream().map(this.offers::resolved).toList();
        List<JournalRow> offered = rows.stream().filter((row) -> !row.superseded()).toList();
        List<CompletableFuture<?>> answers = this.offers.requests(offered, begin);
        for (int i = 0; i < offered.size(); i++) {
            Submission submission = submissions.get(offered.get(i).revision());
            answers.get(i).whenComplete((answer, failure) -> {
                if (failure == null && answer != RescheduleResult.NOT_FOUND) {
                    complete(submission, answer);
                }
            });
        }
        RelayedBatch batch = new RelayedBatch(this.table, this.offers);
        for (JournalRow row : rows) {
            if (row.superseded()) {
                batch.addSuperseded(row);
                complete(submissions.get(row.revision()), superseded(row));
            }
        }
        for (int i = 0; i < offered.size(); i++) {
            add(batch, offered.get(i), answers.get(i), submissions.get(offered.get(i).revision()), begin);
        }
        batch.record(RETRY_DELAY);
        this.status.addApplied(batch.applied());
        batch.refused().forEach((row, failure) -> refused(row.request(), failure, submissions.get(row.revision())));
        if (batch.unanswered() != null) {
            failed(batch.unanswered());
        }
        else if (batch.applied() > 0) {
            recovered();
        }
        return batch.unanswered() == null;
    }

    /**
     * Leaves requests for later that are on queues of another journal, or in a database
     * that is older than the store.
     */
    private List<JournalRow> withoutForeign(List<JournalRow> rows) {
        List<Long> foreign = rows.stream()
            .filter((row) -> this.status.isLeftAlone(row.request().queue()))
            .map(JournalRow::revision)
            .toList();
        this.table.release(foreign, this.table.claim());
        return rows.stream().filter((row) -> !foreign.contains(row.revision())).toList();
    }

    private void add(RelayedBatch batch, JournalRow row, CompletableFuture<?> future, @Nullable Submission submission,
            long begin) {
        try {
            Object answer = future.join();
            answer = (answer == RescheduleResult.NOT_FOUND) ? restoreAt(batch, row, begin) : answer;
            batch.add(row, answer);
            complete(submission, answer);
        }
        catch (CompletionException | CancellationException ex) {
            batch.addFailure(row, StoreFailures.unwrap(ex));
        }
    }

    /**
     * Restores a message that the store has lost, with the due time of a reschedule that
     * did not find it.
     */
    private RescheduleResult restoreAt(RelayedBatch batch, JournalRow row, long begin) {
        DueTime due = row.request().due();
        JournalRow lost = (due != null && this.offers.isLedger(row.request().queue())) ? batch.message(row).orElse(null)
                : null;
        if (due == null || lost == null || lost.request().message() == null) {
            return RescheduleResult.NOT_FOUND;
        }
        SendOutcome outcome = this.offers.restore(lost, lost.request().message().dueAt(due), begin).join().outcome();
        return (outcome == SendOutcome.SCHEDULED) ? RescheduleResult.RESCHEDULED : RescheduleResult.NOT_FOUND;
    }

    /** Returns the answer to a request after a later one of its id was applied. */
    private static Object superseded(JournalRow row) {
        JournalRequest request = row.request();
        return switch (request.operation()) {
            case SEND -> new SendResult(request.queue().value(), request.id(), null, SendOutcome.KEPT);
            case RESCHEDULE -> RescheduleResult.NOT_FOUND;
            case CANCEL -> CancelResult.NOT_FOUND;
        };
    }

    private static void complete(@Nullable Submission submission, Object answer) {
        if (submission != null) {
            submission.answer().complete(Optional.of(answer));
        }
    }

    private void refused(JournalRequest request, MessageGroupChangeException failure, @Nullable Submission submission) {
        logger.error("The store refused a request of the journal for good: {}", failure.getMessage());
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

    private void failed(Throwable failure) {
        if (this.status.relay(failure)) {
            logger.warn("Requests of the journal wait, and are applied later: {}", failure.toString());
        }
    }

    private void recovered() {
        if (this.status.relay(null)) {
            logger.info("Requests of the journal are applied again");
        }
    }

    /**
     * Holds a request of this node.
     *
     * @param revision its row
     * @param insertedAt when its insert began, in nanoseconds of the monotonic clock
     * @param answer completed with the answer of the store, or empty
     */
    private record Submission(long revision, long insertedAt, CompletableFuture<Optional<Object>> answer) {

        static final Submission NONE = new Submission(0, 0, new CompletableFuture<>());

    }

}
