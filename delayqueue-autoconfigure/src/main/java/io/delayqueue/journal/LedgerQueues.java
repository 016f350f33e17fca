package io.delayqueue.journal;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.stream.Collectors;

import io.delayqueue.QueueName;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.routing.PartitionLayouts;
import org.jspecify.annotations.Nullable;

/**
 * Lists the queues that a node reconciles, and marks in the store which of them are
 * ledgers: those in use, and former ledgers until all their rows are deleted. Records in
 * the layout of each queue that it is a ledger, once a minute, and again each second
 * after a failure. A node that records no requests on a queue leaves the mark to the
 * nodes that do.
 * <p>
 * <strong>Threads.</strong> Confined to that of the reconciler, which does not wait for
 * the store; {@link #include} may be called on any thread.
 */
final class LedgerQueues {

    /** How often the queues that have rows are read. */
    private static final Duration READ_INTERVAL = Duration.ofMinutes(1);

    private final JournalTable table;

    private final LedgerTable ledger;

    private final OfferSender offers;

    private final JournalStatus status;

    private final ReconcilerProblems problems;

    private final PartitionLayouts layouts;

    private final Executor thread;

    private final Set<QueueName> used = ConcurrentHashMap.newKeySet();

    /**
     * The queues that are no ledgers on this node, and have the rows of one, or requests
     * that this node is to apply for others.
     */
    private final Set<QueueName> leaving = new HashSet<>();

    /** The last records of modes, unless they have succeeded. */
    private final Map<QueueName, CompletableFuture<?>> records = new HashMap<>();

    /** The queues whose mode was recorded, or could not be recorded at first. */
    private final Set<QueueName> opened = new HashSet<>();

    private final Consumer<QueueName> onOpened;

    /** When the queues are to be read, in nanoseconds of the monotonic clock. */
    private long readAt = System.nanoTime();

    /**
     * Creates a list.
     * @param onOpened is called for each queue once its partitions are to be called
     * @param thread that of the reconciler
     */
    LedgerQueues(JournalTable table, OfferSender offers, JournalStatus status, ReconcilerProblems problems,
            PartitionLayouts layouts, Consumer<QueueName> onOpened, Executor thread) {
        this.table = table;
        this.ledger = new LedgerTable(table.database());
        this.offers = offers;
        this.status = status;
        this.problems = problems;
        this.layouts = layouts;
        this.onOpened = onOpened;
        this.thread = thread;
    }

    /** Includes a queue of this process. Thread-safe; whether it is new. */
    boolean include(QueueName queue) {
        return this.used.add(queue);
    }

    /** Reads the queues that have rows, and records modes, when it is time. */
    void read() {
        boolean all = System.nanoTime() - this.readAt >= 0;
        if (all) {
            this.used.addAll(this.table.queues());
            this.used.addAll(this.ledger.queues());
            this.readAt = System.nanoTime() + READ_INTERVAL.toNanos();
        }
        this.used.addAll(this.status.pairs().queues());
        this.used.stream()
            .filter((queue) -> all || !this.opened.contains(queue) || this.leaving.contains(queue)
                    || this.records.containsKey(queue) || isAwaited(queue))
            .forEach(this::record);
    }

    /**
     * Returns whether the relay waits for the comparison of a queue on which this node
     * records no requests.
     */
    private boolean isAwaited(QueueName queue) {
        return !this.offers.mode(queue).recordsRequests() && this.status.pairs().isAwaited(queue);
    }

    /** Returns the queues that are to be reconciled. */
    Set<QueueName> all() {
        return this.used.stream().filter(this::contains).collect(Collectors.toSet());
    }

    /**
     * Returns whether a queue is a ledger, has the rows of one, or is to be compared with
     * the journal before this node applies requests of others.
     */
    boolean contains(QueueName queue) {
        return this.offers.isLedger(queue) || this.leaving.contains(queue);
    }

    /**
     * Returns whether a queue is an outbox on this node, and has the rows of a ledger. A
     * node that records no requests does not wait for their end: the queue may be a
     * ledger on others.
     */
    boolean isLeaving(QueueName queue) {
        return this.leaving.contains(queue) && !this.offers.keepsRows(queue);
    }

    /** Returns the partitions of a queue; none until its layout was read. */
    List<Partition> partitions(QueueName queue) {
        if (!this.opened.contains(queue)) {
            return List.of();
        }
        CompletableFuture<PartitionLayout> layout = this.layouts.of(queue);
        return (layout.isDone() && !layout.isCompletedExceptionally()) ? layout.join().all(queue) : List.of();
    }

    /**
     * Records the mode of a queue, unless that is in progress. A former ledger is left
     * once its rows and the notes of the store about them are deleted.
     */
    void record(QueueName queue) {
        CompletableFuture<?> before = this.records.get(queue);
        if (before != null && !before.isDone()) {
            return;
        }
        CompletableFuture<Void> recorded = this.offers.isLedger(queue) ? this.layouts.ledger(queue, true)
                : this.layouts.of(queue).thenComposeAsync((layout) -> leave(queue, layout), this.thread);
        CompletableFuture<PartitionLayout> record = recorded.thenCompose((done) -> this.layouts.of(queue));
        this.records.put(queue, record);
        record.whenCompleteAsync((done, failure) -> recorded(queue, failure), this.thread);
    }

    private CompletableFuture<Void> leave(QueueName queue, PartitionLayout layout) {
        boolean noted = layout.ledger() && this.status.backlogOf(queue) != 0;
        if (noted || isAwaited(queue) || this.table.hasAccepted(queue)) {
            this.leaving.add(queue);
            return CompletableFuture.completedFuture(null);
        }
        this.leaving.remove(queue);
        return this.offers.keepsRows(queue) ? CompletableFuture.completedFuture(null)
                : this.layouts.ledger(queue, false);
    }

    private void recorded(QueueName queue, @Nullable Throwable failure) {
        String part = "the layout of queue '%s'".formatted(queue);
        if (failure != null) {
            this.problems.failed(part, failure);
        }
        else {
            this.records.remove(queue);
            this.problems.over(part);
        }
        if (this.opened.add(queue)) {
            this.offers.prepared(queue); // not waited for; the sweep needs it later
            this.onOpened.accept(queue);
        }
    }

}
