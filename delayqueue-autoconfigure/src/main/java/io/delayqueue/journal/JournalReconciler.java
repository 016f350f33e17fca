package io.delayqueue.journal;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;

import io.delayqueue.QueueName;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.LedgerChanges;
import io.delayqueue.store.LedgerEntry;
import io.delayqueue.store.LedgerEntry.Kind;
import io.delayqueue.store.LedgerRequest;
import io.delayqueue.store.Partition;
import io.delayqueue.store.Pause;
import io.delayqueue.store.StoreFailures;
import io.delayqueue.store.routing.PartitionLayouts;
import io.delayqueue.store.routing.PartitionRouter;
import io.delayqueue.store.routing.StoreComponents;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.SmartLifecycle;

/**
 * Keeps the rows of ledgers and the store in agreement. Records ends, failures and dead
 * letters, offers messages that are overdue to the store again, and restores all messages
 * of a queue when the store has lost data.
 * <p>
 * <strong>Threads.</strong> One thread runs all statements, and waits for the store; so
 * the reconciler uses one connection.
 */
final class JournalReconciler implements SmartLifecycle {

    private static final Logger logger = LoggerFactory.getLogger(JournalReconciler.class);

    private static final Duration INTERVAL = Duration.ofSeconds(1);

    /** How often the queues that have rows are read. */
    private static final Duration QUEUES_INTERVAL = Duration.ofMinutes(1);

    /** The longest interval between two checks of a message. */
    private static final int MAX_DOUBLINGS = 9;

    /** How long a restore rests of which some messages failed. */
    private static final Duration RETRY_DELAY = Duration.ofSeconds(10);

    /** The sweep looks up at most 1,000 messages a second. */
    private static final long LOOK_UP_NANOS = 1_000_000;

    private static final int PHASE = 1001;

    private static final Duration STOP_LIMIT = Duration.ofSeconds(10);

    private final JournalTable table;

    private final LedgerTable ledger;

    private final JournalOffers offers;

    private final JournalRestorer restorer;

    private final JournalStatus status;

    private final DatabaseAge age;

    private final PartitionRouter router;

    private final PartitionLayouts layouts;

    private final RestorePauses pauses;

    private final Set<QueueName> used = ConcurrentHashMap.newKeySet();

    /** The changes that were recorded since the last call of each partition. */
    private final Map<Partition, List<LedgerEntry>> recorded = new HashMap<>();

    /** How often journals have called each partition. */
    private final Map<Partition, Long> counts = new HashMap<>();

    /** The entries of partitions that are to be restored. */
    private final Map<Partition, LedgerEntry> lost = new HashMap<>();

    /** The queues to restore. */
    private final Map<QueueName, Loss> losses = new HashMap<>();

    private long nextSweepAt;

    private volatile long queuesReadAt;

    /** The last failure of this round. */
    private @Nullable Throwable failure;

    private @Nullable Thread thread;

    private volatile CountDownLatch stopped = new CountDownLatch(0);

    JournalReconciler(JournalTable table, JournalOffers offers, JournalRestorer restorer, JournalStatus status,
            StoreComponents store, Duration restorePause) {
        this.table = table;
        this.ledger = new LedgerTable(table);
        this.offers = offers;
        this.restorer = restorer;
        this.status = status;
        this.age = new DatabaseAge(table, store.messages(), status);
        this.router = new PartitionRouter(store);
        this.layouts = store.partitions();
        this.pauses = new RestorePauses(this.layouts, restorePause);
    }

    /** Includes a queue to which this process has sent. */
    void include(QueueName queue) {
        if (this.used.add(queue)) {
            this.queuesReadAt = System.nanoTime() - QUEUES_INTERVAL.toNanos(); // records
                                                                               // its mode
        }
    }

    @Override
    public synchronized void start() {
        if (!isRunning()) {
            this.table.requireTables();
            this.stopped = new CountDownLatch(1);
            Thread started = new Thread(this::run, "delayqueue-journal-reconciler");
            started.setDaemon(true);
            started.start();
            this.thread = started;
        }
    }

    @Override
    public synchronized void stop() {
        this.stopped.countDown();
        Thread running = this.thread;
        if (running != null) {
            try {
                running.join(STOP_LIMIT.toMillis());
            }
            catch (InterruptedException ex) {
                Thread.currentThread().interrupt();
            }
            this.thread = null;
        }
    }

    @Override
    public boolean isRunning() {
        return this.stopped.getCount() > 0;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }

    private void run() {
        this.queuesReadAt = System.nanoTime() - QUEUES_INTERVAL.toNanos();
        this.nextSweepAt = System.nanoTime();
        long rest = 0;
        try {
            while (!this.stopped.await(rest, TimeUnit.NANOSECONDS)) {
                rest = reconcile();
            }
        }
        catch (InterruptedException ex) {
            logger.warn("The reconciler of the journal was interrupted, and ends");
        }
        finally {
            this.status.compared();
        }
    }

    /** Returns the time until there is more to do, in nanoseconds. */
    private long reconcile() {
        boolean more = false;
        boolean overdue = false;
        this.failure = null;
        try {
            Set<QueueName> queues = queues();
            List<QueueName> recorded = new ArrayList<>();
            this.age.begin();
            for (QueueName queue : queues) {
                more |= attempt(() -> recordChanges(queue, recorded));
            }
            if (this.age.end(queues)) {
                queues.forEach((queue) -> this.losses.putIfAbsent(queue, new Loss(false, false, System.nanoTime())));
            }
            if (this.status.older() == null) {
                for (QueueName queue : recorded) {
                    attempt(() -> {
                        restore(queue);
                        return false;
                    });
                }
                overdue = sweep();
            }
        }
        catch (RuntimeException ex) {
            this.failure = StoreFailures.unwrap(ex);
        }
        report(this.failure);
        if (this.failure != null) {
            return INTERVAL.toNanos();
        }
        return more ? 0 : overdue ? this.nextSweepAt - System.nanoTime() : INTERVAL.toNanos();
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
        if (System.nanoTime() - this.queuesReadAt >= QUEUES_INTERVAL.toNanos()) {
            try {
                this.used.addAll(this.table.queues());
                this.used.addAll(this.ledger.queues());
                for (QueueName queue : this.used) {
                    this.layouts.ledger(queue, this.offers.isLedger(queue)).join();
                }
                this.queuesReadAt = System.nanoTime();
            }
            catch (RuntimeException ex) {
                report(ex);
            }
        }
        Set<QueueName> ledgers = new HashSet<>(this.used);
        ledgers.removeIf((queue) -> !this.offers.isLedger(queue));
        return ledgers;
    }

    /**
     * Records the changes of a queue's messages: ends, failures and dead letters.
     * @param complete gets the queue if all its partitions have answered
     * @return whether there are more
     */
    private boolean recordChanges(QueueName queue, List<QueueName> complete) {
        boolean more = false;
        long backlog = 0;
        for (Partition partition : this.router.recorded(queue).join()) {
            LedgerChanges changes = this.age.changes(partition, this.offers.memory(), recordedOf(partition));
            if (changes == null || this.status.older() != null) {
                return false;
            }
            if (!changes.journal().equals(this.age.identity())) {
                leaveAlone(queue, changes.journal());
                return false;
            }
            compareCount(partition, changes.count());
            List<LedgerEntry> done = new ArrayList<>();
            for (LedgerEntry entry : changes.entries()) {
                if (entry.kind() == Kind.LOST) {
                    this.lost.put(partition, entry);
                    this.losses.putIfAbsent(queue, new Loss(false, false, System.nanoTime()));
                }
                else {
                    done.add(entry);
                }
            }
            backlog += changes.backlog();
            this.recorded.remove(partition);
            if (!done.isEmpty()) {
                this.ledger.record(partition, changes.changes());
                this.status.addEnded((int) done.stream().filter((entry) -> entry.kind() == Kind.ENDED).count());
                this.recorded.put(partition, done);
            }
            more |= changes.changes().size() == LedgerRequest.LIMIT;
        }
        if (this.status.removeForeign(queue)) {
            this.losses.putIfAbsent(queue, new Loss(false, false, System.nanoTime()));
        }
        this.status.backlog(queue, backlog);
        complete.add(queue);
        return more;
    }

    /** Records a loss if the number of calls is not greater than before. */
    private void compareCount(Partition partition, long count) {
        if (count <= this.counts.getOrDefault(partition, 0L)) {
            this.losses.put(partition.queue(), new Loss(true, false, System.nanoTime()));
        }
        this.counts.put(partition, count);
    }

    private List<LedgerEntry> recordedOf(Partition partition) {
        return this.recorded.getOrDefault(partition, List.of());
    }

    /**
     * Restores a queue that Redis has lost, until that has succeeded. Restores it once
     * more after that: a request may have been applied before the loss, and its row
     * changed only after it was read here.
     */
    private void restore(QueueName queue) {
        Loss loss = this.losses.get(queue);
        if (loss == null || System.nanoTime() - loss.notBefore() < 0) {
            return;
        }
        if (loss.certain() && !loss.repeated()) {
            this.pauses.begin(queue);
            logger.warn("Redis has lost data of queue '{}': its messages are restored from the journal", queue);
        }
        RestorePlan plan = RestorePlan.all().queue(queue.value());
        long failed = this.restorer.cancelAgain(plan, this::isRunning);
        RestoreReport report = this.restorer.restore(plan, this::isRunning);
        if (loss.certain() && !loss.repeated() || report.restored() > 0) {
            logger.warn("Queue '{}' was restored from the journal: {}", queue, report);
        }
        if (failed + report.failed() > 0) {
            this.losses.put(queue, loss.after(RETRY_DELAY, loss.repeated()));
            return;
        }
        this.pauses.end(queue);
        if (loss.certain() && !loss.repeated()) {
            this.losses.put(queue, loss.after(this.table.claim(), true));
        }
        else {
            this.losses.remove(queue);
            recordRestored(queue);
        }
    }

    /** Reports the partitions of a queue as restored, by their next calls. */
    private void recordRestored(QueueName queue) {
        List<Partition> restored = this.lost.keySet().stream().filter((each) -> each.queue().equals(queue)).toList();
        for (Partition partition : restored) {
            List<LedgerEntry> entries = new ArrayList<>(recordedOf(partition));
            entries.add(this.lost.remove(partition));
            this.recorded.put(partition, entries);
        }
    }

    private void leaveAlone(QueueName queue, String journal) {
        if (this.status.addForeign(queue)) {
            logger.error(
                    "Queue '{}' belongs to journal {} and not to {}, that of this database: nothing of it is relayed "
                            + "or restored. Connect to the database of that journal, or give the queue to this one",
                    queue, journal, this.age.identity());
        }
    }

    /**
     * Offers messages that are overdue to the store, except those of paused queues: they
     * are overdue because of the pause.
     * @return whether there may be more
     */
    private boolean sweep() {
        if (System.nanoTime() - this.nextSweepAt < 0) {
            return true;
        }
        long begin = System.nanoTime();
        List<JournalRow> found = this.table.dueForCheck(JournalTable.BATCH_LIMIT);
        Set<QueueName> paused = queuesOf(found).stream().filter(this::isPaused).collect(Collectors.toSet());
        List<JournalRow> own = this.table.postpone(found, JournalReconciler::nextCheck);
        List<JournalRow> rows = own.stream()
            .filter((row) -> !row.behind() && !this.status.isLeftAlone(row.request().queue()))
            .toList();
        List<JournalRow> cancels = rows.stream().filter((row) -> row.request().message() == null).toList();
        this.table.delete(cancels.stream().map(JournalRow::revision).toList());
        List<JournalRow> messages = rows.stream()
            .filter((row) -> row.request().message() != null && !paused.contains(row.request().queue()))
            .toList();
        RestoreReport report = this.restorer.offer(messages, begin);
        if (report.restored() > 0) {
            logger.warn("{} overdue messages were missing in Redis, and were restored from the journal",
                    report.restored());
        }
        this.nextSweepAt = System.nanoTime() + messages.size() * LOOK_UP_NANOS;
        return found.size() == JournalTable.BATCH_LIMIT;
    }

    private static Set<QueueName> queuesOf(List<JournalRow> rows) {
        return rows.stream().map((row) -> row.request().queue()).collect(Collectors.toSet());
    }

    private boolean isPaused(QueueName queue) {
        Pause pause = this.layouts.of(queue).join().pause();
        return pause != null && !pause.isOver(Instant.ofEpochMilli(this.offers.millis(queue, DueTime.NOW)));
    }

    /** Returns the delay until the check after this one, twice as long as the last. */
    private static Duration nextCheck(JournalRow row) {
        return JournalOffers.CHECK_DELAY.multipliedBy(1L << Math.min(row.checks(), MAX_DOUBLINGS));
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

    /**
     * Holds why a queue is to be restored.
     *
     * @param certain whether Redis is known to have lost data of it; if not, the queue is
     * new, was paired with another journal, or Redis has lost it unnoticed by this node
     * @param repeated whether it was restored once
     * @param notBefore when it is to be restored, in nanoseconds of the monotonic clock
     */
    private record Loss(boolean certain, boolean repeated, long notBefore) {

        Loss after(Duration delay, boolean second) {
            return new Loss(this.certain, second, System.nanoTime() + delay.toNanos());
        }

    }

}
