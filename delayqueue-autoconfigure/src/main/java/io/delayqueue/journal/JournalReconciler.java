package io.delayqueue.journal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import io.delayqueue.QueueName;
import io.delayqueue.store.LedgerChange;
import io.delayqueue.store.LedgerChanges;
import io.delayqueue.store.LedgerEntry;
import io.delayqueue.store.LedgerEntry.Kind;
import io.delayqueue.store.LedgerRequest;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.StoreFailures;
import io.delayqueue.store.routing.PartitionLayouts;
import io.delayqueue.store.routing.StoreComponents;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.SmartLifecycle;

/**
 * Keeps the rows of ledgers and the store in agreement, in a round each second. Records
 * ends, failures and dead letters, offers messages that are overdue to the store again,
 * and restores queues of which the store has lost data.
 * <p>
 * <strong>Threads.</strong> One thread runs all statements, and waits for the store; so
 * the reconciler uses one connection.
 */
final class JournalReconciler implements SmartLifecycle {

    private static final Logger logger = LoggerFactory.getLogger(JournalReconciler.class);

    private static final Duration INTERVAL = Duration.ofSeconds(1);

    /** How often the queues that have rows are read, and old rows are deleted. */
    private static final Duration LONG_INTERVAL = Duration.ofMinutes(1);

    /** How long a round waits for partitions that do not answer. */
    private static final Duration ANSWER_LIMIT = Duration.ofMillis(500);

    private static final int PHASE = 1001;

    private static final Duration STOP_LIMIT = Duration.ofSeconds(10);

    private final JournalTable table;

    private final LedgerTable ledger;

    private final HandledTable handled;

    private final EndedTable ended;

    private final JournalOffers offers;

    private final LedgerSweep sweep;

    private final LedgerRecovery recovery;

    private final JournalStatus status;

    private final DatabaseAge age;

    private final PartitionLayouts layouts;

    private final Set<QueueName> used = ConcurrentHashMap.newKeySet();

    /** The queues whose mode is not ledger any more, and that still have rows. */
    private final Set<QueueName> leaving = new HashSet<>();

    /** The changes that were recorded since the last call of each partition. */
    private final Map<Partition, List<LedgerEntry>> recorded = new HashMap<>();

    /** How often journals have called each partition. */
    private final Map<Partition, Long> counts = new HashMap<>();

    /** The calls of partitions that are not recorded. */
    private final Map<Partition, DatabaseAge.Call> calls = new HashMap<>();

    private volatile long queuesReadAt;

    private long nextCleanupAt;

    /** The last failure of this round. */
    private @Nullable Throwable failure;

    /** Whether this round has left something to do. */
    private boolean more;

    /** Ends the rest between two rounds. */
    private final Semaphore wakeUps = new Semaphore(0);

    private @Nullable Thread thread;

    private volatile boolean running;

    JournalReconciler(JournalTable table, JournalOffers offers, LedgerStore store, JournalRestorer restorer,
            JournalStatus status, StoreComponents components, Duration restorePause) {
        this.table = table;
        this.ledger = new LedgerTable(table.database());
        this.handled = new HandledTable(table.database());
        this.ended = new EndedTable(table.database());
        this.offers = offers;
        this.status = status;
        this.age = new DatabaseAge(table.database(), table.node(), components.messages(), status);
        this.layouts = components.partitions();
        this.sweep = new LedgerSweep(table, offers, restorer, status, this.layouts);
        this.recovery = new LedgerRecovery(table, offers, store, restorer,
                new RestorePauses(this.layouts, restorePause));
    }

    /** Includes a queue of this process, and compares it at once if it is new. */
    void include(QueueName queue) {
        if (this.used.add(queue)) {
            readQueuesSoon(); // records its mode
            this.wakeUps.release();
        }
    }

    private void readQueuesSoon() {
        this.queuesReadAt = System.nanoTime() - LONG_INTERVAL.toNanos();
    }

    @Override
    public synchronized void start() {
        if (!isRunning()) {
            this.table.requireTables();
            this.status.pairs().start();
            this.running = true;
            Thread started = new Thread(this::run, "delayqueue-journal-reconciler");
            started.setDaemon(true);
            started.start();
            this.thread = started;
        }
    }

    @Override
    public synchronized void stop() {
        this.running = false;
        this.wakeUps.release();
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
    }

    @Override
    public boolean isRunning() {
        return this.running;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }

    private void run() {
        readQueuesSoon();
        this.nextCleanupAt = System.nanoTime();
        try {
            while (this.running) {
                this.status.reconcilerRound();
                if (this.wakeUps.tryAcquire(reconcile(), TimeUnit.NANOSECONDS)) {
                    this.wakeUps.drainPermits();
                }
            }
        }
        catch (InterruptedException ex) {
            logger.warn("The reconciler of the journal was interrupted, and ends");
        }
        finally {
            this.status.reconcilerStopped();
            this.status.pairs().stop();
            this.status.compared();
        }
    }

    /** Returns the time until there is more to do, in nanoseconds. */
    private long reconcile() {
        this.failure = null;
        long rest = INTERVAL.toNanos();
        try {
            rest = round();
        }
        catch (RuntimeException | Error ex) {
            this.failure = StoreFailures.unwrap(ex);
        }
        report(this.failure);
        return (this.failure != null) ? INTERVAL.toNanos() : Math.max(0, rest);
    }

    private long round() {
        this.more = false;
        Set<QueueName> queues = queues();
        this.age.begin();
        List<QueueName> answered = recordChanges(queues);
        if (this.age.end(queues)) {
            queues.forEach(this.recovery::lost);
        }
        if (this.status.older() != null) {
            return INTERVAL.toNanos();
        }
        this.more |= attempt(() -> this.recovery.step(answered));
        boolean overdue = false;
        if (this.age.isKeeper()) {
            overdue = attempt(this.sweep::sweep);
            this.more |= attempt(this::cleanUp);
        }
        return this.more ? 0 : overdue ? Math.min(this.sweep.rest(), INTERVAL.toNanos()) : INTERVAL.toNanos();
    }

    /** Runs a step of a round, whose failure does not prevent the others. */
    private boolean attempt(BooleanSupplier step) {
        try {
            return step.getAsBoolean();
        }
        catch (RuntimeException ex) {
            this.failure = StoreFailures.unwrap(ex);
            return false;
        }
    }

    private Set<QueueName> queues() {
        if (System.nanoTime() - this.queuesReadAt >= LONG_INTERVAL.toNanos()) {
            try {
                long begin = System.nanoTime();
                this.used.addAll(this.table.queues());
                this.used.addAll(this.ledger.queues());
                this.used.forEach(this::recordMode);
                this.queuesReadAt = begin;
            }
            catch (RuntimeException ex) {
                report(ex);
            }
        }
        attempt(() -> {
            List.copyOf(this.leaving).forEach(this::recordMode);
            return false;
        });
        this.used.addAll(this.status.pairs().queues());
        Set<QueueName> ledgers = new HashSet<>(this.used);
        ledgers.removeIf((queue) -> !this.offers.isLedger(queue) && !this.leaving.contains(queue));
        return ledgers;
    }

    /**
     * Records the mode of a queue. One that is not a ledger any more is left once its
     * rows are deleted, and what the store has noted about them.
     */
    private void recordMode(QueueName queue) {
        boolean ledger = this.offers.isLedger(queue);
        boolean left = !ledger && !this.table.hasAccepted(queue)
                && (!this.layouts.of(queue).join().ledger() || this.status.backlogOf(queue) == 0);
        if (ledger || left) {
            this.leaving.remove(queue);
            this.layouts.ledger(queue, ledger).join();
        }
        else {
            this.leaving.add(queue);
        }
    }

    /**
     * Calls the partitions that have answered their last calls, waits a while, and
     * records the changes of those that answer in time: one that does not delays no
     * other.
     * @return the queues of which all partitions have answered
     */
    private List<QueueName> recordChanges(Set<QueueName> queues) {
        Map<QueueName, List<Partition>> partitions = new HashMap<>();
        queues.forEach((queue) -> attempt(() -> partitions.put(queue, partitionsOf(queue)) == null));
        List<Partition> all = partitions.values().stream().flatMap(List::stream).toList();
        this.calls.keySet().retainAll(all);
        all.forEach((partition) -> this.calls.computeIfAbsent(partition, this::call));
        CompletableFuture
            .allOf(this.calls.values().stream().map(DatabaseAge.Call::answer).toArray(CompletableFuture[]::new))
            .handle((done, failed) -> true)
            .completeOnTimeout(false, ANSWER_LIMIT.toMillis(), TimeUnit.MILLISECONDS)
            .join();
        List<QueueName> answered = new ArrayList<>();
        partitions.forEach((queue, parts) -> attempt(() -> record(queue, parts, answered)));
        return answered;
    }

    private List<Partition> partitionsOf(QueueName queue) {
        PartitionLayout layout = this.layouts.of(queue)
            .copy()
            .completeOnTimeout(null, ANSWER_LIMIT.toMillis(), TimeUnit.MILLISECONDS)
            .join();
        return (layout != null) ? layout.all(queue) : List.of();
    }

    private DatabaseAge.Call call(Partition partition) {
        List<LedgerEntry> done = this.recorded.computeIfAbsent(partition, (key) -> new ArrayList<>());
        done.addAll(this.recovery.restored(partition));
        return this.age.call(partition, List.copyOf(done), this.recovery.held(partition));
    }

    /** Records the changes of the partitions of a queue that have answered. */
    private boolean record(QueueName queue, List<Partition> partitions, List<QueueName> answered) {
        long backlog = 0;
        boolean complete = !partitions.isEmpty();
        for (Partition partition : partitions) {
            DatabaseAge.Call call = this.calls.get(partition);
            if (call == null || !call.answer().isDone()) {
                complete = false;
                continue;
            }
            this.calls.remove(partition);
            LedgerChanges changes = changes(partition, call);
            if (changes == null) {
                return false;
            }
            backlog += changes.backlog();
            this.more |= changes.changes().size() == LedgerRequest.LIMIT;
            record(partition, changes);
        }
        if (complete) {
            if (this.status.pairs().own(queue)) {
                this.recovery.lost(queue);
            }
            this.status.backlog(queue, backlog);
            answered.add(queue);
        }
        return true;
    }

    /**
     * Returns the changes of a partition; {@code null} if it belongs to another journal
     * or the database is older.
     */
    private @Nullable LedgerChanges changes(Partition partition, DatabaseAge.Call call) {
        LedgerChanges changes = this.age.changes(partition, call);
        if (changes == null || this.status.older() != null) {
            return null;
        }
        if (!changes.journal().equals(this.age.identity())) {
            leaveAlone(partition.queue(), changes.journal());
            return null;
        }
        this.recorded.remove(partition);
        return changes;
    }

    private void record(Partition partition, LedgerChanges changes) {
        // A lower number than before: Redis has lost data without being another server.
        if (changes.count() <= this.counts.getOrDefault(partition, 0L)) {
            this.recovery.lost(partition.queue());
        }
        this.counts.put(partition, changes.count());
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
            this.recorded.put(partition, new ArrayList<>(entries));
        }
    }

    private void leaveAlone(QueueName queue, String journal) {
        if (this.status.pairs().foreign(queue)) {
            logger.error(
                    "Queue '{}' belongs to journal {} and not to {}, that of this database: nothing of it is relayed "
                            + "or restored. Connect to the database of that journal, or give the queue to this one",
                    queue, journal, this.age.identity());
        }
    }

    /**
     * Deletes old records, once a minute.
     * @return whether there may be more
     */
    private boolean cleanUp() {
        if (System.nanoTime() - this.nextCleanupAt < 0) {
            return false;
        }
        this.table.endDistantClaims();
        boolean more = this.handled.deleteOld() | this.ended.deleteOld();
        if (!more) {
            this.nextCleanupAt = System.nanoTime() + LONG_INTERVAL.toNanos();
        }
        return more;
    }

    private void report(@Nullable Throwable failure) {
        boolean changed = this.status.reconciler(failure);
        if (failure != null && changed) {
            logger.error("The rows of the journal cannot be compared with Redis now; trying again", failure);
        }
        else if (changed) {
            logger.info("The rows of the journal are compared with Redis again");
        }
    }

}
