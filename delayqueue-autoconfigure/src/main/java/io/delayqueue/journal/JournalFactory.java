package io.delayqueue.journal;

import java.time.Duration;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;

import io.delayqueue.QueueName;
import io.delayqueue.store.routing.StoreComponents;
import io.delayqueue.store.schedule.LocalSchedules;

import org.springframework.context.SmartLifecycle;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * Creates the components of a journal around one table, and computes how long a node's
 * claim of a row lasts.
 */
public final class JournalFactory {

    /** A claim outlives several calls of the store. */
    private static final int CALLS = 4;

    private static final Duration MIN_CLAIM = Duration.ofSeconds(10);

    /** An offer ends well before the claim of its row, as clocks may differ a little. */
    private static final int DEADLINES = 4;

    /**
     * The threads that insert rows of occurrences, of which each may wait for one queue.
     */
    private static final int FIRING_THREADS = 4;

    /** How long these threads rest before they end. */
    private static final Duration IDLE = Duration.ofSeconds(10);

    /** Firings that may wait for these threads; others fail and are repeated. */
    private static final int MAX_FIRINGS = 10_000;

    private final JournalStatus status = new JournalStatus();

    private final JournalTable table;

    private final Journal journal;

    private final JournalReconciler reconciler;

    private final JournalRestorer restorer;

    private final JournalRelay relay;

    private final OccurrenceRows occurrences;

    /**
     * Creates a factory.
     * @param database the database
     * @param store applies the requests
     * @param modes the mode of each queue
     * @param settings the settings of this node
     * @param publisher publishes application events
     */
    public JournalFactory(JournalDatabase database, StoreComponents store, Function<QueueName, JournalMode> modes,
            JournalSettings settings, Consumer<Object> publisher) {
        JournalTable table = new JournalTable(database, claim(settings.commandTimeout()));
        this.table = table;
        OfferSender offers = new OfferSender(store, modes, table.claim().dividedBy(DEADLINES));
        LedgerLookup held = new LedgerLookup(store, offers);
        this.restorer = new JournalRestorer(table, offers, held, this.status, modes);
        this.relay = new JournalRelay(table, offers, held, this.status, settings.maintenance(), publisher);
        this.reconciler = new JournalReconciler(table, offers, held, this.restorer, this.status, store, settings,
                publisher);
        this.occurrences = new OccurrenceRows(table, offers, this.reconciler, this.status);
        this.journal = new Journal(table, this.relay, this.reconciler, this.status, modes, settings.commandTimeout());
    }

    /** Returns how long a row belongs to a node. */
    private static Duration claim(Duration commandTimeout) {
        Duration calls = commandTimeout.multipliedBy(CALLS);
        return (calls.compareTo(MIN_CLAIM) < 0) ? MIN_CLAIM
                : (calls.compareTo(JournalTable.MAX_CLAIM) > 0) ? JournalTable.MAX_CLAIM : calls;
    }

    public Journal journal() {
        return this.journal;
    }

    /** Returns the component that runs transactional handlers. */
    public HandlerTransactionExecutor handlerTransactions(PlatformTransactionManager transactions) {
        return new HandlerTransactionExecutor(this.table.database(), this.status, transactions);
    }

    /** Inserts a row for each occurrence of a ledger before it is sent. */
    public void recordOccurrences(LocalSchedules schedules) {
        ThreadPoolExecutor executor = new ThreadPoolExecutor(FIRING_THREADS, FIRING_THREADS, IDLE.toSeconds(),
                TimeUnit.SECONDS, new LinkedBlockingQueue<>(MAX_FIRINGS), threads());
        executor.allowCoreThreadTimeOut(true);
        schedules.wrapStore((store) -> new LedgerScheduleStore(store, this.occurrences, executor));
    }

    private static CustomizableThreadFactory threads() {
        CustomizableThreadFactory threads = new CustomizableThreadFactory("delayqueue-journal-schedules-");
        threads.setDaemon(true);
        return threads;
    }

    /**
     * Compares a queue with the journal while the reconciler runs, also if this process
     * only handles its messages.
     */
    public void include(QueueName queue) {
        this.reconciler.include(queue);
    }

    /** Returns the counts and problems of this node's journal. */
    public JournalStatus status() {
        return this.status;
    }

    /** Returns the component that restores messages on demand. */
    public JournalOperations operations() {
        return this.restorer;
    }

    /** Returns the reconciler, which compares ledgers with the store while it runs. */
    public SmartLifecycle reconciler() {
        return this.reconciler;
    }

    /** Returns the relay, which applies requests while it runs. */
    public SmartLifecycle relay() {
        return this.relay;
    }

}
