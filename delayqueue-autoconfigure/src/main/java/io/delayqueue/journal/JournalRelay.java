package io.delayqueue.journal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.delayqueue.store.DaemonThreads;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.SmartLifecycle;

/**
 * Applies committed requests to the store: those of this node at once, and those of a
 * node that has stopped once its claim of the row is over. Applies the requests of an id
 * one after another, in the order of their revisions.
 * <p>
 * <strong>Threads.</strong> One thread runs all statements, so the relay uses one
 * connection. It does not wait for the store: it reads the next requests while others are
 * being applied, so a part of the store that does not answer delays its own requests
 * alone. {@link #submit} may be called from any thread.
 */
final class JournalRelay implements SmartLifecycle {

    private static final Logger logger = LoggerFactory.getLogger(JournalRelay.class);

    /** How often a relay that waits for the first comparison reads whether it ended. */
    private static final Duration COMPARISON_INTERVAL = Duration.ofMillis(100);

    /** How often rows that other nodes left behind are searched. */
    private static final Duration INTERVAL = Duration.ofSeconds(1);

    /** How soon rows are read again that are behind others, at first. */
    private static final Duration BEHIND_INTERVAL = Duration.ofMillis(20);

    /** How often they are read if no request has been applied for a while. */
    private static final Duration MAX_BEHIND_INTERVAL = Duration.ofSeconds(1);

    /**
     * Requests that wait to be applied, about 130 bytes each. Others are found by the
     * search, once their claims have run out.
     */
    private static final int MAX_SUBMISSIONS = 100_000;

    /**
     * Requests that follow others of their ids. At most half of the room is for requests
     * of other nodes.
     */
    private static final int MAX_BEHIND = 10_000;

    /** Requests that the store is applying at any time. */
    private static final int MAX_OFFERED = 1000;

    private static final int PHASE = 1001;

    /** How long a stop waits for the requests that are being applied. */
    private static final Duration STOP_LIMIT = Duration.ofSeconds(10);

    private final JournalTable table;

    private final RelayedRequests requests;

    private final JournalStatus status;

    private final RelayDelay delay;

    private final boolean maintenance;

    private final BlockingQueue<Submission> submissions = new LinkedBlockingQueue<>(MAX_SUBMISSIONS);

    /** Released for each submission and each answer. */
    private final Semaphore events = new Semaphore(0);

    private final RequestsBehind behind = new RequestsBehind(MAX_BEHIND);

    private final AbandonedRequests abandoned;

    /**
     * How long rows rest that are behind others, in nanoseconds: twice as long after each
     * time at which they are read in vain.
     */
    private long behindInterval;

    private @Nullable Thread thread;

    private volatile boolean running;

    JournalRelay(JournalTable table, OfferSender offers, LedgerLookup store, JournalStatus status, boolean maintenance,
            Consumer<Object> publisher) {
        this.table = table;
        this.requests = new RelayedRequests(table, offers, store, status, publisher, this.events::release);
        this.abandoned = new AbandonedRequests(table, this.behind, this.requests::isLeft);
        this.status = status;
        this.delay = new RelayDelay(table.database(), status);
        this.maintenance = maintenance;
    }

    /**
     * Applies a committed request soon.
     * @return the answer of the store; empty if there is none yet
     */
    CompletableFuture<Optional<Object>> submit(long revision, long insertedAt) {
        return submit(Submission.of(revision, insertedAt)).answer();
    }

    /**
     * Inserts a request on the relay's thread, and applies it.
     * @return completes once the request is inserted, with the answer of the store to
     * come; fails if it was not inserted
     */
    CompletableFuture<CompletableFuture<Optional<Object>>> insert(JournalRequest request) {
        Submission submission = submit(Submission.of(request));
        return submission.recorded().thenApply((done) -> submission.answer());
    }

    private Submission submit(Submission submission) {
        if (!this.submissions.offer(submission)) {
            submission.leave();
        }
        this.events.release();
        if (!this.running) {
            drain();
        }
        return submission;
    }

    @Override
    public synchronized void start() {
        if (!this.running) {
            this.table.requireTables();
            this.running = true;
            this.thread = DaemonThreads.start(this::run, "delayqueue-journal");
        }
    }

    /** Ends the thread after the requests that it is applying. */
    @Override
    public synchronized void stop() {
        this.running = false;
        this.events.release();
        Thread stopped = this.thread;
        if (stopped != null) {
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

    /** Leaves requests to other nodes that this process applies no more. */
    private void drain() {
        List<Submission> rest = new ArrayList<>();
        this.submissions.drainTo(rest);
        rest.forEach(Submission::leave);
    }

    private void run() {
        long next = System.nanoTime();
        boolean compared = false;
        boolean more = false;
        while (this.running) {
            try {
                this.status.relayRound();
                if (!compared) {
                    compared = this.status.awaitCompared(COMPARISON_INTERVAL);
                    this.delay.read();
                    continue;
                }
                await(next - System.nanoTime());
                // While requests fail, only a search of which some were applied is
                // followed by another one at once.
                boolean again = record() && more;
                boolean left = relay();
                if (left || again || next - System.nanoTime() <= 0) {
                    next = System.nanoTime() + INTERVAL.toNanos();
                    boolean full = this.requests.size() >= MAX_OFFERED;
                    more = full || this.maintenance && relayAbandoned();
                    if (more && !full && this.status.relayProblem() == null) {
                        next = System.nanoTime(); // after the requests that came
                                                  // meanwhile
                    }
                }
                this.delay.read();
            }
            catch (InterruptedException ex) {
                logger.debug("Interrupted by a callback of an answer", ex);
            }
            catch (RuntimeException | Error ex) {
                failed(ex);
            }
        }
        end();
    }

    /** Records the answers of the requests that are being applied. */
    private void end() {
        try {
            long limit = System.nanoTime() + STOP_LIMIT.toNanos() / 2;
            while (this.requests.size() > 0 && limit - System.nanoTime() > 0) {
                this.events.tryAcquire(BEHIND_INTERVAL.toNanos(), TimeUnit.NANOSECONDS);
                this.requests.record(true);
            }
        }
        catch (InterruptedException | RuntimeException ex) {
            logger.debug("The answers to some requests are not recorded; other nodes apply them again", ex);
        }
        this.behind.leaveAll();
        this.status.relayStopped();
    }

    private void await(long nanos) throws InterruptedException {
        long limit = Math.min(nanos, this.requests.untilRecord());
        if (!this.behind.isEmpty()) {
            limit = Math.min(limit, Math.max(BEHIND_INTERVAL.toNanos(), this.behindInterval));
        }
        if (this.events.tryAcquire(Math.max(0, limit), TimeUnit.NANOSECONDS)) {
            this.events.drainPermits();
        }
    }

    /** Records answers, and returns whether the store has applied requests. */
    private boolean record() {
        boolean applied = this.requests.record(!this.behind.isEmpty()) > 0;
        if (applied) {
            this.behindInterval = 0;
        }
        return applied;
    }

    /**
     * Applies requests of this node.
     * @return whether some were left to {@link #relayAbandoned}
     */
    private boolean relay() throws InterruptedException {
        List<Submission> batch = this.behind.poll(latestInsert(System.nanoTime()));
        long longer = Math.max(BEHIND_INTERVAL.toNanos(), 2 * this.behindInterval);
        this.behindInterval = batch.isEmpty() ? 0 : Math.min(longer, MAX_BEHIND_INTERVAL.toNanos());
        this.submissions.drainTo(batch, JournalTable.BATCH_LIMIT - batch.size());
        if (batch.isEmpty()) {
            return false;
        }
        if (!this.submissions.isEmpty()) {
            this.events.release();
        }
        try {
            return relay(inserted(batch));
        }
        catch (RuntimeException | Error ex) {
            batch.forEach(Submission::leave);
            throw ex;
        }
    }

    /** Inserts the requests that have no rows yet. */
    private List<Submission> inserted(List<Submission> batch) {
        List<Submission> inserted = new ArrayList<>(batch.size());
        for (Submission submission : batch) {
            JournalRequest request = submission.request();
            try {
                inserted.add((request != null)
                        ? submission.inserted(this.table.database().inOwnTransaction(() -> this.table.insert(request)))
                        : submission);
            }
            catch (RuntimeException ex) {
                submission.recorded().completeExceptionally(ex);
            }
        }
        return inserted;
    }

    private boolean relay(List<Submission> batch) throws InterruptedException {
        long begin = System.nanoTime();
        long latest = latestInsert(begin);
        Map<Long, Submission> current = new LinkedHashMap<>();
        List<Submission> left = new ArrayList<>();
        for (Submission submission : batch) {
            if (submission.insertedAt() - latest > 0) {
                current.put(submission.revision(), submission);
            }
            else {
                left.add(submission); // of a long transaction: its claim may end
            }
        }
        List<JournalRow> rows = current.isEmpty() ? List.of() : this.table.read(current.keySet());
        Set<Long> found = new HashSet<>();
        List<JournalRow> first = new ArrayList<>();
        for (JournalRow row : rows) {
            found.add(row.revision());
            if (row.behind()) {
                this.behind.add(RequestsBehind.Id.of(row), Objects.requireNonNull(current.get(row.revision())));
            }
            else {
                first.add(row);
            }
        }
        current.values().stream().filter((each) -> !found.contains(each.revision())).forEach(Submission::leave);
        this.requests.offer(first, current, begin);
        left.forEach(Submission::leave);
        this.table.release(left.stream().map(Submission::revision).toList(), Duration.ofMillis(-1));
        return !left.isEmpty();
    }

    /** Returns the time of the last insert whose claim may end too early. */
    private long latestInsert(long now) {
        return now - this.table.claim().dividedBy(2).toNanos();
    }

    /** Returns whether there may be more that can be applied now. */
    private boolean relayAbandoned() throws InterruptedException {
        int waiting = this.behind.size();
        List<Long> first = this.abandoned.claim(RelayedRequests.RETRY_DELAY);
        if (!first.isEmpty()) {
            long begin = System.nanoTime();
            this.requests.offer(this.table.read(first), Map.of(), begin);
        }
        return !first.isEmpty() || this.behind.size() > waiting;
    }

    private void failed(Throwable failure) {
        if (this.status.relay(failure)) {
            logger.warn("Requests of the journal wait, and are applied later: {}", failure.toString());
        }
    }

}
