package io.delayqueue.journal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.delayqueue.CancelResult;
import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.JournalRequestRefusedEvent;
import io.delayqueue.NotReplicatedException;
import io.delayqueue.SendResult;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.MessageEventRecorderFactory;
import io.delayqueue.store.MessageGroupChangeException;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.StoreFailures;
import io.delayqueue.store.routing.PartitionRouter;
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

    /** How often rows that other nodes left behind are searched. */
    private static final Duration INTERVAL = Duration.ofSeconds(1);

    /** How long a request rests that the store did not answer. */
    private static final Duration RETRY_DELAY = Duration.ofSeconds(1);

    private static final int PHASE = 1001;

    /** How long a stop waits for the requests that are being applied. */
    private static final Duration STOP_LIMIT = Duration.ofSeconds(10);

    private final JournalTable table;

    private final PartitionRouter router;

    private final MessageEventRecorderFactory events;

    private final Consumer<Object> publisher;

    private final BlockingQueue<Submission> submissions = new LinkedBlockingQueue<>();

    private @Nullable Thread thread;

    private volatile boolean running;

    private boolean failing;

    JournalRelay(JournalTable table, PartitionRouter router, MessageEventRecorderFactory events,
            Consumer<Object> publisher) {
        this.table = table;
        this.router = router;
        this.events = events;
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
            this.table.requireTable();
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
        while (this.running) {
            try {
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
        List<Long> claimed = this.table.claimAbandoned();
        if (claimed.isEmpty()) {
            return false;
        }
        long begin = System.nanoTime();
        return apply(this.table.read(claimed), Map.of(), begin) && claimed.size() == JournalTable.BATCH_LIMIT;
    }

    /**
     * Offers requests to the store, and deletes the rows of those that it has answered.
     * @param begin when the rows were about to be read, in nanoseconds of the monotonic
     * clock; they have at least half of their claims from then on
     * @return whether the store answered all
     */
    private boolean apply(List<JournalRow> rows, Map<Long, Submission> submissions, long begin) {
        List<CompletableFuture<?>> offers = rows.stream()
            .<CompletableFuture<?>>map((row) -> offer(row, begin).whenComplete((answer, failure) -> {
                Submission submission = submissions.get(row.revision());
                if (failure == null && submission != null) {
                    submission.answer().complete(Optional.of(answer));
                }
            }))
            .toList();
        Outcome outcome = new Outcome();
        for (int i = 0; i < rows.size(); i++) {
            outcome.add(rows.get(i), failureOf(offers.get(i)));
        }
        this.table.delete(outcome.done);
        this.table.release(outcome.withoutEffect, RETRY_DELAY);
        outcome.refused.forEach((row, failure) -> refused(row.request(), failure, submissions.get(row.revision())));
        if (outcome.unanswered != null) {
            failed(outcome.unanswered);
        }
        else if (!outcome.done.isEmpty()) {
            recovered();
        }
        return outcome.unanswered == null;
    }

    private CompletableFuture<?> offer(JournalRow row, long begin) {
        if (System.nanoTime() - begin > this.table.claim().dividedBy(2).toNanos()) {
            return CompletableFuture.failedFuture(new StoreUnavailableException(
                    "The claim of the row is nearly over, as the calls before took long", Effect.NONE, null));
        }
        try {
            return offer(row.request());
        }
        catch (RuntimeException ex) {
            return CompletableFuture.failedFuture(ex);
        }
    }

    private CompletableFuture<?> offer(JournalRequest request) {
        NewMessage message = request.message();
        if (message != null) {
            return this.router.schedule(request.queue(), message).thenApply((result) -> counted(request, result));
        }
        if (request.due() != null) {
            return this.router.reschedule(request.queue(), request.id(), request.due());
        }
        return this.router.cancel(request.queue(), request.id()).thenApply((result) -> {
            if (result == CancelResult.CANCELLED) {
                this.events.of(request.queue()).cancelled();
            }
            return result;
        });
    }

    private SendResult counted(JournalRequest request, SendResult result) {
        this.events.of(request.queue()).sent(result.outcome());
        return result;
    }

    private static @Nullable Throwable failureOf(CompletableFuture<?> offer) {
        return offer.handle((answer, failure) -> (failure != null) ? StoreFailures.unwrap(failure) : null).join();
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
        if (!this.failing) {
            this.failing = true;
            logger.warn("Requests of the journal wait, and are applied later: {}", failure.toString());
        }
    }

    private void recovered() {
        if (this.failing) {
            this.failing = false;
            logger.info("Requests of the journal are applied again");
        }
    }

    /** Collects the results of the offers of a batch. */
    private static final class Outcome {

        private final List<Long> done = new ArrayList<>();

        private final List<Long> withoutEffect = new ArrayList<>();

        private final Map<JournalRow, MessageGroupChangeException> refused = new LinkedHashMap<>();

        private @Nullable Throwable unanswered;

        void add(JournalRow row, @Nullable Throwable failure) {
            if (failure instanceof MessageGroupChangeException group) {
                this.refused.put(row, group);
            }
            else if (failure instanceof NotReplicatedException) {
                logger.warn("A request of the journal is stored on fewer replicas than wanted: {}",
                        failure.getMessage());
            }
            else if (failure != null) {
                this.unanswered = failure;
                if (failure instanceof DelayQueueException known && known.effect() == Effect.NONE) {
                    this.withoutEffect.add(row.revision());
                } // else the claim runs out, as the call may still take effect
                return;
            }
            this.done.add(row.revision());
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
