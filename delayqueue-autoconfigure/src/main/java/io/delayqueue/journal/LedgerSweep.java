package io.delayqueue.journal;

import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import io.delayqueue.QueueName;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.Pause;
import io.delayqueue.store.StoreFutures;
import io.delayqueue.store.routing.PartitionLayouts;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Offers messages whose next checks are over to the store, which restores those that it
 * has lost without a trace. They are overdue, or a restore has left them to the sweep, as
 * they followed others of their ids. Leaves out those of paused queues, which are overdue
 * because of the pause. Reads at most 400 rows a second. Rows of a queue of which the
 * store does not answer rest for a while, so they do not delay those of other queues.
 * <p>
 * <strong>Threads.</strong> Confined to that of the reconciler, which does not wait for
 * the store.
 */
final class LedgerSweep {

    private static final Logger logger = LoggerFactory.getLogger(LedgerSweep.class);

    /** How often the interval between two checks of a message doubles at most. */
    private static final int MAX_DOUBLINGS = 9;

    /** The longest interval between two checks of a message. */
    static final Duration MAX_INTERVAL = OfferSender.CHECK_DELAY.multipliedBy(1L << MAX_DOUBLINGS);

    /** The time between two rows. A look-up takes the database about 0.1 ms. */
    private static final long ROW_NANOS = 2_500_000;

    /**
     * How long a message rests that follows another one of its id, or whose queue has not
     * answered an offer yet.
     */
    static final Duration SHORT_REST = Duration.ofSeconds(5);

    /** How long a message rests whose queue does not answer. */
    private static final Duration SILENT_REST = Duration.ofMinutes(1);

    /**
     * The longest time between two batches while offers of the first are not answered.
     */
    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(1);

    private final JournalTable table;

    private final OfferSender offers;

    private final RestoreOffers restoreOffers;

    private final JournalStatus status;

    private final PartitionLayouts layouts;

    private final Predicate<QueueName> silent;

    private final Executor thread;

    /** The queues of which offers are not answered. */
    private final Set<QueueName> offered = new HashSet<>();

    private long batchAt;

    private long nextAt = System.nanoTime();

    /**
     * Creates a sweep.
     * @param silent returns whether the last call of a partition of a queue has failed
     * @param thread that of the reconciler
     */
    LedgerSweep(JournalTable table, OfferSender offers, RestoreOffers restoreOffers, JournalStatus status,
            PartitionLayouts layouts, Predicate<QueueName> silent, Executor thread) {
        this.table = table;
        this.offers = offers;
        this.restoreOffers = restoreOffers;
        this.status = status;
        this.layouts = layouts;
        this.silent = silent;
        this.thread = thread;
    }

    /** Returns when more rows may be read, in nanoseconds of the monotonic clock. */
    long nextAt() {
        return this.offered.isEmpty() ? this.nextAt : Math.max(this.nextAt, this.batchAt + ANSWER_LIMIT.toNanos());
    }

    /**
     * Checks the next rows.
     * @return whether there may be more
     */
    boolean sweep() {
        long begin = System.nanoTime();
        List<JournalRow> found = this.table.dueForCheck(JournalTable.BATCH_LIMIT);
        Set<QueueName> resting = queuesOf(found).stream().filter(this::isResting).collect(Collectors.toSet());
        Set<QueueName> paused = new HashSet<>();
        for (QueueName queue : queuesOf(found)) {
            try {
                if (!resting.contains(queue) && isPaused(queue)) {
                    paused.add(queue);
                }
            }
            catch (StoreUnavailableException ex) {
                resting.add(queue);
            }
        }
        Predicate<JournalRow> answering = (row) -> !resting.contains(row.request().queue());
        Predicate<JournalRow> checked = (row) -> !row.behind() && answering.test(row);
        List<JournalRow> own = this.table.postpone(found, (row) -> answering.test(row) ? nextCheck(row) : rest(row),
                checked);
        List<JournalRow> rows = own.stream()
            .filter((row) -> checked.test(row) && !this.status.isLeftAlone(row.request().queue()))
            .toList();
        List<JournalRow> cancels = rows.stream().filter((row) -> row.request().message() == null).toList();
        this.table.delete(cancels.stream().map(JournalRow::revision).toList());
        Map<QueueName, List<JournalRow>> messages = rows.stream()
            .filter((row) -> row.request().message() != null && !paused.contains(row.request().queue()))
            .collect(Collectors.groupingBy((row) -> row.request().queue()));
        this.batchAt = System.nanoTime();
        this.nextAt = this.batchAt + found.size() * ROW_NANOS;
        messages.forEach((queue, each) -> offer(queue, each, begin));
        return found.size() == JournalTable.BATCH_LIMIT;
    }

    private void offer(QueueName queue, List<JournalRow> messages, long begin) {
        CompletableFuture<RestoreReport> offer = StoreFutures
            .send(() -> this.restoreOffers.offer(messages, begin, this.thread));
        this.offered.add(queue);
        offer.whenCompleteAsync((report, failure) -> {
            this.offered.remove(queue);
            this.status.addSwept(messages.size());
            log(queue, report, failure);
        }, this.thread);
    }

    private static void log(QueueName queue, @Nullable RestoreReport report, @Nullable Throwable failure) {
        if (report == null) {
            logger.warn("Messages of queue '{}' cannot be compared with Redis now; they are compared later", queue,
                    failure);
        }
        else if (report.restored() > 0) {
            logger.warn("{} messages of queue '{}' were missing in Redis, and were restored from the journal",
                    report.restored(), queue);
        }
    }

    private static Set<QueueName> queuesOf(List<JournalRow> rows) {
        return rows.stream().map((row) -> row.request().queue()).collect(Collectors.toSet());
    }

    /** Returns whether the store does not answer for a queue, so that an offer waits. */
    private boolean isResting(QueueName queue) {
        CompletableFuture<Void> prepared = this.offers.prepared(queue);
        return this.offered.contains(queue) || this.silent.test(queue) || !prepared.isDone()
                || prepared.isCompletedExceptionally();
    }

    private boolean isPaused(QueueName queue) {
        Pause pause = this.layouts.of(queue).join().pause();
        return pause != null && !pause.isOver(Instant.ofEpochMilli(this.offers.now(queue)));
    }

    private Duration rest(JournalRow row) {
        return this.silent.test(row.request().queue()) ? SILENT_REST : SHORT_REST;
    }

    /** Returns the delay until the check after this one, twice as long as the last. */
    private static Duration nextCheck(JournalRow row) {
        return row.behind() ? SHORT_REST
                : OfferSender.CHECK_DELAY.multipliedBy(1L << Math.min(row.checks(), MAX_DOUBLINGS));
    }

}
