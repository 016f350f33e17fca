package io.delayqueue.journal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;

import io.delayqueue.QueueName;
import io.delayqueue.store.LedgerChange;
import io.delayqueue.store.LedgerChanges;
import io.delayqueue.store.LedgerEntry;
import io.delayqueue.store.LedgerEntry.Kind;
import io.delayqueue.store.LedgerRequest;
import io.delayqueue.store.Partition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls the partitions of ledgers for the messages that have ended, failed or been
 * dead-lettered, and records these. Each partition has one such call at a time, and is
 * independent of all others: its next call follows in the round after its answer, or at
 * once if there may be more.
 * <p>
 * Other nodes call the same partitions. While the maintainer of the journal is another
 * node, others have called a queue at least every two seconds for five seconds, this node
 * has recorded all that it was given, and its calls return nothing new, it calls the
 * queue every 5 to 15 seconds only.
 * <p>
 * <strong>Threads.</strong> Confined to that of the reconciler, which does not wait for
 * the answers.
 */
final class LedgerChangePoller {

    private static final Logger logger = LoggerFactory.getLogger(LedgerChangePoller.class);

    /** The shortest and the longest rest. */
    private static final Duration MIN_REST = Duration.ofSeconds(5);

    private static final Duration MAX_REST = Duration.ofSeconds(15);

    /** How often other nodes call a queue that rests. */
    private static final Duration OTHER_CALLS = Duration.ofSeconds(2);

    private final LedgerTable ledger;

    private final OlderDatabaseDetector detector;

    private final LedgerRecovery recovery;

    private final JournalStatus status;

    private final ReconcilerProblems problems;

    private final Executor thread;

    private final Map<QueueName, List<Partition>> queues = new HashMap<>();

    private final Map<Partition, Calls> calls = new HashMap<>();

    /** Until when queues rest, in nanoseconds of the monotonic clock. */
    private final Map<QueueName, Long> rests = new HashMap<>();

    /** The calls that read backlogs. */
    private CompletableFuture<Void> counts = CompletableFuture.completedFuture(null);

    LedgerChangePoller(LedgerTable ledger, OlderDatabaseDetector detector, LedgerRecovery recovery,
            JournalStatus status, ReconcilerProblems problems, Executor thread) {
        this.ledger = ledger;
        this.detector = detector;
        this.recovery = recovery;
        this.status = status;
        this.problems = problems;
        this.thread = thread;
    }

    /** Forgets all queues but some. */
    void retain(Set<QueueName> retained) {
        this.queues.keySet().retainAll(retained);
        this.rests.keySet().retainAll(retained);
        List.copyOf(this.calls.keySet())
            .stream()
            .filter((partition) -> !retained.contains(partition.queue()))
            .forEach(this::forget);
    }

    private void forget(Partition partition) {
        this.calls.remove(partition);
        this.detector.forget(partition);
        this.problems.over(part(partition));
    }

    /**
     * Calls the partitions of a queue of which the last call has ended, unless the queue
     * rests.
     * @param partitions all of them; none if they are not known now
     * @param leaving whether the queue is a former ledger; it does not rest, since it is
     * left once its partitions have no changes. False on nodes that record no requests
     */
    void call(QueueName queue, List<Partition> partitions, boolean leaving) {
        if (partitions.isEmpty()) {
            return;
        }
        List<Partition> before = this.queues.put(queue, partitions);
        if (before != null && !before.equals(partitions)) {
            before.stream().filter((partition) -> !partitions.contains(partition)).forEach(this::forget);
            this.rests.remove(queue);
        }
        if (!leaving && isResting(queue)) {
            return;
        }
        for (Partition partition : partitions) {
            Calls state = this.calls.computeIfAbsent(partition, (each) -> new Calls());
            if (!state.waiting) {
                call(partition, state);
            }
        }
    }

    private boolean isResting(QueueName queue) {
        Long until = this.rests.get(queue);
        if (until == null) {
            return false;
        }
        if (this.detector.isMaintainedByOther() && !this.recovery.isConcerned(queue) && System.nanoTime() - until < 0) {
            return true;
        }
        this.rests.remove(queue);
        return false;
    }

    /** Returns whether the last call of a partition of a queue was not answered. */
    boolean isSilent(QueueName queue) {
        return this.queues.getOrDefault(queue, List.of())
            .stream()
            .map(this.calls::get)
            .anyMatch((state) -> state != null && state.failed);
    }

    private void call(Partition partition, Calls state) {
        state.recorded.addAll(this.recovery.restored(partition));
        LedgerRequest request = this.detector.request(state.count, List.copyOf(state.recorded),
                this.recovery.held(partition));
        CompletableFuture<LedgerChanges> answer = this.detector.call(partition, request);
        state.waiting = true;
        answer.whenCompleteAsync((changes, failure) -> ended(partition, state, request, changes, failure), this.thread);
    }

    /**
     * Reads the backlogs of the queues, which grow while the database does not answer and
     * nothing is recorded. Does nothing while the calls of the last time have not ended.
     */
    void readBacklogs() {
        if (this.counts.isDone() && !this.detector.identity().isEmpty()) {
            this.counts = CompletableFuture.allOf(this.queues.entrySet()
                .stream()
                .map((queue) -> readBacklog(queue.getKey(), queue.getValue()))
                .toArray(CompletableFuture[]::new));
        }
    }

    private CompletableFuture<Void> readBacklog(QueueName queue, List<Partition> partitions) {
        List<CompletableFuture<Long>> backlogs = partitions.stream().map((partition) -> {
            Calls state = this.calls.computeIfAbsent(partition, (each) -> new Calls());
            LedgerRequest request = this.detector.backlogRequest(state.count);
            return this.detector.call(partition, request)
                .thenApplyAsync((answer) -> backlog(state, request, answer), this.thread);
        }).toList();
        return CompletableFuture.allOf(backlogs.toArray(CompletableFuture[]::new)).thenRunAsync(() -> {
            if (backlogs.stream().allMatch((backlog) -> backlog.join() >= 0)) {
                this.status.backlog(queue, backlogs.stream().mapToLong(CompletableFuture::join).sum());
            }
        }, this.thread).exceptionally((failure) -> null); // the next round tries again
    }

    /** Returns the backlog of a partition; -1 if the store has returned none. */
    private long backlog(Calls state, LedgerRequest request, LedgerChanges answer) {
        if (!answer.journal().equals(request.journal()) || request.isOlderThan(answer.committedAt())) {
            return -1;
        }
        state.ownCalls++;
        state.count = answer.count();
        return answer.backlog();
    }

    private void ended(Partition partition, Calls state, LedgerRequest request, @Nullable LedgerChanges changes,
            @Nullable Throwable failure) {
        state.waiting = false;
        state.answered = false;
        if (this.calls.get(partition) != state) {
            return;
        }
        state.failed = changes == null;
        if (changes == null) {
            this.problems.failed(part(partition), (failure != null) ? failure : new IllegalStateException("no answer"));
            return;
        }
        try {
            boolean accepted = accepts(partition, request, changes);
            if (accepted) {
                state.answered(request, changes);
                record(partition, state, changes);
                state.answered = true;
                completed(partition.queue());
            }
            this.problems.over(part(partition));
            if (accepted && changes.changes().size() == LedgerRequest.LIMIT) {
                call(partition, state);
            }
        }
        catch (RuntimeException | Error ex) {
            state.answered = false;
            this.problems.failed(part(partition), ex);
        }
    }

    private static String part(Partition partition) {
        return "partition %d of queue '%s'".formatted(partition.index(), partition.queue());
    }

    /**
     * Returns whether changes may be recorded: not if the partition belongs to another
     * journal or the database is older.
     */
    private boolean accepts(Partition partition, LedgerRequest request, LedgerChanges changes) {
        if (!this.detector.accepts(partition, request, changes) || this.status.older() != null) {
            return false;
        }
        boolean own = changes.journal().equals(this.detector.identity());
        if (!own && this.status.pairs().foreign(partition.queue())) {
            logger.error(
                    "Queue '{}' belongs to journal {} and not to {}, that of this database: nothing of it is relayed "
                            + "or restored. Connect to the database of that journal, or give the queue to this one",
                    partition.queue(), changes.journal(), this.detector.identity());
        }
        return own;
    }

    private void record(Partition partition, Calls state, LedgerChanges changes) {
        state.recorded = new ArrayList<>();
        List<LedgerChange> rows = new ArrayList<>();
        for (LedgerChange change : changes.changes()) {
            if (change.entry().kind() == Kind.LOST) {
                this.recovery.lost(partition, change.entry());
            }
            else {
                rows.add(change);
            }
        }
        if (!rows.isEmpty()) {
            this.ledger.record(partition, rows);
            List<LedgerEntry> entries = rows.stream().map(LedgerChange::entry).toList();
            this.status.addEnded((int) entries.stream().filter((entry) -> entry.kind() == Kind.ENDED).count());
            state.recorded.addAll(entries);
        }
    }

    /**
     * Continues with a queue if all its partitions have answered since it did so last. So
     * a loss that each of them notices is known of all when the queue is prepared.
     */
    private void completed(QueueName queue) {
        List<Calls> states = this.queues.getOrDefault(queue, List.of()).stream().map(this.calls::get).toList();
        if (!states.stream().allMatch((state) -> state != null && state.answered)) {
            return;
        }
        states.forEach((state) -> state.answered = false);
        if (states.stream().allMatch((state) -> state.idle)) {
            long rest = ThreadLocalRandom.current().nextLong(MIN_REST.toNanos(), MAX_REST.toNanos());
            this.rests.put(queue, System.nanoTime() + rest);
        }
        long backlog = states.stream().mapToLong((state) -> state.backlog).sum();
        if (this.status.pairs().own(queue)) {
            this.recovery.lost(queue);
        }
        this.status.backlog(queue, backlog);
        this.recovery.reached(queue);
    }

    /** Holds the state of the calls of a partition. */
    private static final class Calls {

        /** Whether the last call has not ended. */
        private boolean waiting;

        /** Whether the last call that has ended has failed. */
        private boolean failed;

        /** Whether the last call was answered since all partitions of the queue were. */
        private boolean answered;

        /** The changes that were recorded, which the next call names. */
        private List<LedgerEntry> recorded = new ArrayList<>();

        /** How often journals had called the partition at the last answer. */
        private long count;

        /** The count at the answer from which the calls of others are counted. */
        private long countBefore;

        /** When that was, in nanoseconds of the monotonic clock. */
        private long countedAt;

        /** How often this node has called since. */
        private int ownCalls;

        /** Whether others have called often enough before. */
        private boolean called;

        /** How many changes the partition had then that it has not forgotten. */
        private long backlog;

        /** Whether there was nothing to do then, and others call the partition too. */
        private boolean idle;

        private void answered(LedgerRequest request, LedgerChanges changes) {
            long elapsed = System.nanoTime() - this.countedAt;
            this.ownCalls++;
            if (this.count == 0 || elapsed >= MIN_REST.toNanos()) {
                long others = changes.count() - this.countBefore - this.ownCalls;
                this.called = this.count != 0 && others * OTHER_CALLS.toNanos() >= elapsed;
                this.countBefore = changes.count();
                this.countedAt = System.nanoTime();
                this.ownCalls = 0;
            }
            this.idle = this.called && request.recorded().isEmpty() && changes.changes().isEmpty();
            this.count = changes.count();
            this.backlog = changes.backlog();
        }

    }

}
