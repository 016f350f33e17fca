package io.delayqueue.journal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

import io.delayqueue.QueueName;
import io.delayqueue.store.Texts;
import org.jspecify.annotations.Nullable;

/**
 * Holds the counts and problems of this node's journal, and decides whether it may act on
 * a queue. Thread-safe.
 */
public final class JournalStatus {

    /** Outages that are shorter are no problem. */
    private static final Duration TOLERANCE = Duration.ofSeconds(10);

    /** Longer than any round takes. */
    private static final Duration STALLED = Duration.ofMinutes(1);

    private static final String UNMAINTAINED = "No node has done the work for all nodes for %s: overdue messages are not "
            + "compared, and old records not deleted. Set delayqueue.journal.maintenance=true on one";

    private final LongAdder applied = new LongAdder();

    private final LongAdder restored = new LongAdder();

    private final LongAdder ended = new LongAdder();

    private final LongAdder swept = new LongAdder();

    private final Map<QueueName, Long> backlogs = new ConcurrentHashMap<>();

    private final QueueOwnership pairs = new QueueOwnership();

    private final CountDownLatch compared = new CountDownLatch(1);

    private volatile @Nullable String older;

    private volatile Set<String> restoring = Set.of();

    /**
     * When the relay and the reconciler began their last rounds; 0 if they do not run.
     */
    private volatile long relayRound;

    private volatile long reconcilerRound;

    private volatile @Nullable Problem relayProblem;

    /**
     * Since when the oldest request may have waited, in nanoseconds of the monotonic
     * clock; {@code null} if none waits.
     */
    private volatile @Nullable Long waitingSince;

    /** When that was read last. */
    private volatile long waitingReadAt = System.nanoTime();

    private volatile @Nullable Problem reconcilerProblem;

    /** When the maintainer has committed a time last; 0 if that was a moment ago. */
    private volatile long unmaintainedSince;

    JournalStatus() {
    }

    /** Returns what an operator should know of, in sentences; none if all is well. */
    public List<String> problems() {
        List<String> problems = new ArrayList<>();
        add(problems, this.relayProblem, "Requests are recorded, and have not been applied to Redis for %s: %s");
        add(problems, this.reconcilerProblem,
                "Rows have not been compared with Redis for %s, so lost messages are not restored: %s");
        if (!foreignQueues().isEmpty()) {
            problems.add("Queues %s belong to the journal of another database: nothing of them is relayed or restored"
                .formatted(foreignQueues()));
        }
        if (round().compareTo(STALLED) > 0) {
            problems
                .add("A statement of the journal has not ended for %s: requests are not applied, or rows not compared"
                    .formatted(Texts.span(round())));
        }
        if (unmaintained().compareTo(STALLED) > 0) {
            problems.add(UNMAINTAINED.formatted(Texts.span(unmaintained())));
        }
        String reason = this.older;
        if (reason != null) {
            problems.add(reason);
        }
        return problems;
    }

    private static void add(List<String> problems, @Nullable Problem problem, String text) {
        if (problem != null && problem.age().compareTo(TOLERANCE) > 0) {
            problems.add(text.formatted(Texts.span(problem.age()), problem.failure()));
        }
    }

    /** Returns the number of requests that this node has applied to the store. */
    public long applied() {
        return this.applied.sum();
    }

    /** Returns the number of messages that this node has restored. */
    public long restored() {
        return this.restored.sum();
    }

    /** Returns the number of ended messages whose rows this node has deleted. */
    public long ended() {
        return this.ended.sum();
    }

    /** Returns the number of overdue messages that this node has compared with Redis. */
    public long swept() {
        return this.swept.sum();
    }

    /**
     * Returns the number of ended messages of all queues whose rows are not forgotten.
     */
    public long backlog() {
        return this.backlogs.values().stream().mapToLong(Long::longValue).sum();
    }

    /** Returns the ended messages whose rows are not forgotten, by queue. */
    public Map<String, Long> backlogs() {
        Map<String, Long> byName = new TreeMap<>();
        this.backlogs.forEach((queue, count) -> byName.put(queue.value(), count));
        return byName;
    }

    /** Returns the queues that belong to another journal, and are left alone. */
    public Set<String> foreignQueues() {
        return this.pairs.foreign();
    }

    /**
     * Returns the queues that this node compares with their rows or restores at the
     * moment, as it has just started or Redis may have lost data of them. Claims of them
     * may be held back.
     */
    public Set<String> restoring() {
        return this.restoring;
    }

    /** Records the queues that are being restored. */
    void restoring(Set<String> queues) {
        this.restoring = queues;
    }

    /** Returns why requests are not applied now; {@code null} if they are. */
    public @Nullable Problem relayProblem() {
        return this.relayProblem;
    }

    /** Returns why rows are not compared with the store; {@code null} if they are. */
    public @Nullable Problem reconcilerProblem() {
        return this.reconcilerProblem;
    }

    /**
     * Returns how long the oldest request of all nodes has waited that is not applied;
     * zero if there is none. While the database cannot be read, this is the longest that
     * one may have waited.
     */
    public Duration delay() {
        Long since = this.waitingSince;
        return (since != null) ? Duration.ofNanos(System.nanoTime() - since) : Duration.ZERO;
    }

    /**
     * Returns how long the relay or the reconciler have been in one round, such as in a
     * statement that does not end.
     */
    public Duration round() {
        long earliest = Long.MAX_VALUE;
        for (long round : new long[] { this.relayRound, this.reconcilerRound }) {
            earliest = (round != 0) ? Math.min(earliest, round) : earliest;
        }
        return (earliest != Long.MAX_VALUE) ? Duration.ofNanos(System.nanoTime() - earliest) : Duration.ZERO;
    }

    /**
     * Returns how long no node has done the work that one node does for all; zero if one
     * does, or if this node may do it.
     */
    public Duration unmaintained() {
        long since = this.unmaintainedSince;
        return (since != 0) ? Duration.ofNanos(System.nanoTime() - since) : Duration.ZERO;
    }

    void unmaintainedSince(long since) {
        this.unmaintainedSince = since;
    }

    void relayRound() {
        long now = System.nanoTime();
        if (this.relayRound == 0) {
            this.waitingReadAt = now;
        }
        this.relayRound = now;
    }

    void relayStopped() {
        this.relayRound = 0;
    }

    void reconcilerRound() {
        this.reconcilerRound = System.nanoTime();
    }

    void reconcilerStopped() {
        this.reconcilerRound = 0;
        this.unmaintainedSince = 0;
    }

    void addApplied(int count) {
        this.applied.add(count);
    }

    void addRestored(long count) {
        this.restored.add(count);
    }

    void addEnded(int count) {
        this.ended.add(count);
    }

    void addSwept(int count) {
        this.swept.add(count);
    }

    /** Returns the backlog of a queue; -1 if it is not known. */
    long backlogOf(QueueName queue) {
        return this.backlogs.getOrDefault(queue, -1L);
    }

    void backlog(QueueName queue, long count) {
        this.backlogs.put(queue, count);
    }

    /** Returns which queues belong to this journal. */
    QueueOwnership pairs() {
        return this.pairs;
    }

    /** Returns whether nothing of a queue is to be relayed, restored or swept. */
    boolean isLeftAlone(QueueName queue) {
        return this.older != null || this.pairs.isForeign(queue);
    }

    /** Returns why the database is older than the store; {@code null} if it is not. */
    public @Nullable String older() {
        return this.older;
    }

    /**
     * Records that the database is older than the store, or that it is not; whether that
     * is new.
     */
    boolean older(@Nullable String reason) {
        boolean changed = (this.older == null) != (reason == null);
        this.older = reason;
        return changed;
    }

    /** Records that the database was compared with the store. */
    void compared() {
        this.compared.countDown();
    }

    /** Waits until the database was compared with the store; returns whether it was. */
    boolean awaitCompared(Duration limit) throws InterruptedException {
        return this.compared.await(limit.toMillis(), TimeUnit.MILLISECONDS);
    }

    /**
     * Returns why messages of a queue must not be compared with their rows; {@code null}
     * if they may. Waits a while for the first comparison after a start.
     */
    @Nullable String unpaired(QueueName queue, Duration limit) throws InterruptedException {
        boolean known = this.older != null || this.pairs.awaitCompared(queue, limit);
        String reason = this.older;
        if (reason != null) {
            return reason;
        }
        if (!known) {
            return "Queue '%s' was not yet compared with the journal".formatted(queue);
        }
        return this.pairs.isForeign(queue) ? "Queue '%s' belongs to the journal of another database".formatted(queue)
                : null;
    }

    /** Records a failure of the relay; whether it is a new problem. */
    boolean relay(Throwable failure) {
        Problem before = this.relayProblem;
        this.relayProblem = Problem.next(before, failure);
        if (this.waitingSince == null) {
            this.waitingSince = this.waitingReadAt;
        }
        return before == null;
    }

    /**
     * Records how long the oldest request has waited. Ends the problem of the relay if no
     * request is left that was recorded before the last failure.
     * @param age the time since it was recorded; {@code null} if none waits
     * @param readAt before this was read, in nanoseconds of the monotonic clock
     * @return whether a problem has ended
     */
    boolean waiting(@Nullable Duration age, long readAt) {
        Long since = (age != null) ? readAt - age.toNanos() : null;
        this.waitingReadAt = readAt;
        this.waitingSince = since;
        Problem problem = this.relayProblem;
        boolean over = problem != null && (since == null || since - problem.lastAt() > 0);
        if (over) {
            this.relayProblem = null;
        }
        return over;
    }

    /** Records a failure of the reconciler, or its end. */
    void reconciler(@Nullable Throwable failure) {
        this.reconcilerProblem = (failure != null) ? Problem.next(this.reconcilerProblem, failure) : null;
    }

    /**
     * Holds the last failure of a problem.
     *
     * @param failure its text
     * @param since when the problem began, in nanoseconds of the monotonic clock
     * @param lastAt when it failed last
     */
    public record Problem(String failure, long since, long lastAt) {

        static Problem next(@Nullable Problem before, Throwable failure) {
            long now = System.nanoTime();
            return new Problem(failure.toString(), (before != null) ? before.since : now, now);
        }

        /** Returns how long the problem has lasted. */
        public Duration age() {
            return Duration.ofNanos(System.nanoTime() - this.since);
        }

    }

}
