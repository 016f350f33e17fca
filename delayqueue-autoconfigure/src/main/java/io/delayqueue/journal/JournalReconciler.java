package io.delayqueue.journal;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.delayqueue.QueueName;
import io.delayqueue.store.DaemonThreads;
import io.delayqueue.store.routing.StoreComponents;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.SmartLifecycle;

/**
 * Keeps the rows of ledgers and the store in agreement. Records ends, failures and dead
 * letters, offers messages that are overdue to the store again, and restores queues of
 * which the store has lost data.
 * <p>
 * <strong>Threads.</strong> One thread runs all statements, so the reconciler uses one
 * connection. It does not wait for the store: a round starts calls, a second after the
 * end of the last one, and each answer is a task of the thread. Tasks run in the order of
 * their arrival, and each does no more than one page of work, so a queue, a partition or
 * a server that does not answer delays no other queue.
 */
final class JournalReconciler implements SmartLifecycle {

    private static final Logger logger = LoggerFactory.getLogger(JournalReconciler.class);

    private static final Duration INTERVAL = Duration.ofSeconds(1);

    /** How often old rows are deleted. */
    private static final Duration CLEANUP_INTERVAL = Duration.ofMinutes(1);

    /** How long after a failure they are deleted again. */
    private static final Duration CLEANUP_RETRY = Duration.ofSeconds(10);

    private static final int PHASE = 1001;

    private static final Duration STOP_LIMIT = Duration.ofSeconds(10);

    // The parts of the work that may fail apart from queues, for the log.

    private static final String ROUND = "the rounds of each second";

    private static final String LISTING = "the list of queues";

    private static final String SWEEP = "the sweep of overdue messages";

    private static final String DELETION = "the deletion of old records";

    private static final String TASK = "a step that follows an answer";

    private final JournalTable table;

    private final HandledTable handled;

    private final EndedTable ended;

    private final LedgerQueues queues;

    private final LedgerChangePoller partitions;

    private final LedgerSweep sweep;

    private final LedgerRecovery recovery;

    private final JournalStatus status;

    private final ReconcilerProblems problems;

    private final OlderDatabaseDetector detector;

    /** The tasks of the thread; those of a stopped reconciler wait for the next start. */
    private final BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();

    private long roundAt;

    /** Whether there may be more rows to sweep. */
    private boolean overdue;

    private long cleanupAt;

    /** Whether a batch of old records is to be deleted by a task. */
    private boolean deleting;

    private @Nullable Thread thread;

    private volatile boolean running;

    JournalReconciler(JournalTable table, OfferSender offers, LedgerLookup store, JournalRestorer restorer,
            JournalStatus status, StoreComponents components, JournalSettings settings, Consumer<Object> publisher) {
        this.table = table;
        this.handled = new HandledTable(table.database());
        this.ended = new EndedTable(table.database());
        this.status = status;
        this.problems = new ReconcilerProblems(status);
        this.detector = new OlderDatabaseDetector(table.database(), table.node(), components.messages(), status,
                settings.maintenance());
        this.recovery = new LedgerRecovery(table, offers, store, restorer, this.problems,
                new RestorePauses(components.partitions(), settings.restorePause(), this.tasks::add), status,
                this.tasks::add, publisher);
        this.partitions = new LedgerChangePoller(new LedgerTable(table.database()), this.detector, this.recovery,
                status, this.problems, this.tasks::add);
        this.queues = new LedgerQueues(table, offers, status, this.problems, components.partitions(), this::call,
                this.tasks::add);
        this.sweep = new LedgerSweep(table, offers, new RestoreOffers(table, offers, store, status, false), status,
                components.partitions(), this.partitions::isSilent, this.tasks::add);
    }

    /** Includes a queue of this process, and compares it at once if it is new. */
    void include(QueueName queue) {
        if (this.queues.include(queue)) {
            this.tasks.add(() -> this.queues.record(queue));
        }
    }

    @Override
    public synchronized void start() {
        if (!isRunning()) {
            this.table.requireTables();
            this.status.pairs().start();
            this.running = true;
            this.thread = DaemonThreads.start(this::run, "delayqueue-journal-reconciler");
        }
    }

    @Override
    public synchronized void stop() {
        this.running = false;
        this.tasks.add(() -> {
        });
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
        this.roundAt = System.nanoTime();
        this.cleanupAt = System.nanoTime();
        try {
            while (this.running) {
                this.status.reconcilerRound();
                runNext();
            }
        }
        finally {
            this.status.reconcilerStopped();
            this.status.restoring(Set.of());
            this.status.pairs().stop();
            this.status.compared();
        }
    }

    private void runNext() {
        try {
            Runnable task = next();
            if (task != null) {
                task.run();
            }
        }
        catch (InterruptedException ex) {
            logger.debug("Interrupted by a listener of an event", ex);
        }
    }

    /** Returns what is to be done next; {@code null} if there was nothing for a while. */
    private @Nullable Runnable next() throws InterruptedException {
        long now = System.nanoTime();
        long round = this.roundAt - now;
        if (round <= 0) {
            return () -> {
                attempt(ROUND, this::round);
                this.roundAt = System.nanoTime() + INTERVAL.toNanos();
            };
        }
        long sweep = this.overdue ? this.sweep.nextAt() - now : round;
        if (sweep <= 0) {
            return () -> attempt(SWEEP, this::sweep);
        }
        Runnable task = this.tasks.poll(Math.min(round, sweep), TimeUnit.NANOSECONDS);
        return (task != null) ? () -> attempt(TASK, task) : null;
    }

    /** Does a part of the work, whose failure does not prevent the others. */
    private void attempt(String part, Runnable work) {
        try {
            work.run();
            this.problems.over(part);
        }
        catch (RuntimeException | Error ex) {
            this.problems.failed(part, ex);
        }
    }

    private void round() {
        attempt(LISTING, this.queues::read);
        Set<QueueName> all = this.queues.all();
        this.recovery.retain(all);
        this.partitions.retain(all);
        if (isNoLongerOlder(all)) {
            all.forEach(this.recovery::lost);
        }
        all.forEach(this::call);
        if (this.status.older() == null) {
            this.recovery.round();
        }
        if (!isSweeper()) {
            this.problems.over(SWEEP);
            this.problems.over(DELETION);
            return;
        }
        this.overdue = true;
        if (System.nanoTime() - this.cleanupAt >= 0) {
            attempt(DELETION, this::cleanUp);
        }
    }

    /** Begins a round of the database, and reads backlogs if it does not answer. */
    private boolean isNoLongerOlder(Set<QueueName> all) {
        try {
            return this.detector.round(all);
        }
        catch (RuntimeException ex) {
            this.partitions.readBacklogs();
            throw ex;
        }
    }

    private void call(QueueName queue) {
        if (!this.detector.identity().isEmpty() && this.queues.contains(queue)) {
            this.partitions.call(queue, this.queues.partitions(queue), this.queues.isLeaving(queue));
        }
    }

    private void sweep() {
        this.overdue = false;
        this.overdue = isSweeper() && this.sweep.sweep();
    }

    /** Returns whether this node sweeps, and deletes old records, for all nodes. */
    private boolean isSweeper() {
        return this.detector.isMaintainer() && this.status.older() == null;
    }

    /** Deletes old records, a batch at a time. */
    private void cleanUp() {
        this.cleanupAt = System.nanoTime() + CLEANUP_RETRY.toNanos();
        this.table.endDistantClaims();
        if (!this.deleting) {
            deleteOld();
        }
    }

    private void deleteOld() {
        this.deleting = false;
        this.cleanupAt = System.nanoTime() + CLEANUP_RETRY.toNanos();
        this.deleting = isSweeper() && (this.handled.deleteOld() | this.ended.deleteOld());
        this.cleanupAt = System.nanoTime() + CLEANUP_INTERVAL.toNanos();
        if (this.deleting) {
            this.tasks.add(() -> attempt(DELETION, this::deleteOld));
        }
    }

}
