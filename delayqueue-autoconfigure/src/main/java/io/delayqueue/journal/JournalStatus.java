package io.delayqueue.journal;

import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

import io.delayqueue.QueueName;
import org.jspecify.annotations.Nullable;

/** Counts what the journal of this node has done, and holds its problems. Thread-safe. */
public final class JournalStatus {

    private final LongAdder applied = new LongAdder();

    private final LongAdder restored = new LongAdder();

    private final LongAdder ended = new LongAdder();

    private final Map<QueueName, Long> backlogs = new ConcurrentHashMap<>();

    private final Set<String> foreignQueues = new ConcurrentSkipListSet<>();

    private final CountDownLatch compared = new CountDownLatch(1);

    private volatile @Nullable String older;

    private volatile @Nullable Problem relayProblem;

    private volatile @Nullable Problem reconcilerProblem;

    JournalStatus() {
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
        return new TreeSet<>(this.foreignQueues);
    }

    /** Returns why requests are not applied now; {@code null} if they are. */
    public @Nullable Problem relayProblem() {
        return this.relayProblem;
    }

    /** Returns why rows are not compared with the store; {@code null} if they are. */
    public @Nullable Problem reconcilerProblem() {
        return this.reconcilerProblem;
    }

    /** Returns how long requests have not been applied; zero if they are. */
    public Duration delay() {
        Problem problem = this.relayProblem;
        return (problem != null) ? problem.age() : Duration.ZERO;
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

    void backlog(QueueName queue, long count) {
        this.backlogs.put(queue, count);
    }

    /** Records that a queue belongs to another journal; whether that is new. */
    boolean addForeign(QueueName queue) {
        return this.foreignQueues.add(queue.value());
    }

    /** Records that a queue belongs to this journal; whether that is new. */
    boolean removeForeign(QueueName queue) {
        return this.foreignQueues.remove(queue.value());
    }

    /** Returns whether nothing of a queue is to be relayed, restored or swept. */
    boolean isLeftAlone(QueueName queue) {
        return this.older != null || this.foreignQueues.contains(queue.value());
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
     * Waits until the database was compared with the store.
     * @throws IllegalStateException if it is older, or was not compared in time
     */
    void requireRecent(Duration limit) throws InterruptedException {
        if (!awaitCompared(limit)) {
            throw new IllegalStateException("The database of the journal was not yet compared with Redis");
        }
        if (this.older != null) {
            throw new IllegalStateException(this.older);
        }
    }

    /** Records a failure of the relay, or its end; whether the state is new. */
    boolean relay(@Nullable Throwable failure) {
        Problem before = this.relayProblem;
        this.relayProblem = Problem.next(before, failure);
        return (before == null) != (failure == null);
    }

    /** Records a failure of the reconciler, or its end; whether the state is new. */
    boolean reconciler(@Nullable Throwable failure) {
        Problem before = this.reconcilerProblem;
        this.reconcilerProblem = Problem.next(before, failure);
        return (before == null) != (failure == null);
    }

    /**
     * Holds the last failure of a problem.
     *
     * @param failure its text
     * @param since when the problem began, in nanoseconds of the monotonic clock
     */
    public record Problem(String failure, long since) {

        static @Nullable Problem next(@Nullable Problem before, @Nullable Throwable failure) {
            return (failure == null) ? null
                    : new Problem(failure.toString(), (before != null) ? before.since : System.nanoTime());
        }

        /** Returns how long the problem has lasted. */
        public Duration age() {
            return Duration.ofNanos(System.nanoTime() - this.since);
        }

    }

}
