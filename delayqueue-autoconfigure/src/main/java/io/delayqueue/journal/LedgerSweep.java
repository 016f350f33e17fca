package io.delayqueue.journal;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import io.delayqueue.QueueName;
import io.delayqueue.store.Pause;
import io.delayqueue.store.routing.PartitionLayouts;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Offers messages that are overdue to the store, which restores those that it has lost
 * without a trace. Leaves out those of paused queues: they are overdue because of the
 * pause. Reads at most 1,000 rows a second.
 * <p>
 * <strong>Threads.</strong> Confined to that of the reconciler.
 */
final class LedgerSweep {

    private static final Logger logger = LoggerFactory.getLogger(LedgerSweep.class);

    /** The longest interval between two checks of a message. */
    private static final int MAX_DOUBLINGS = 9;

    /** The time that each row takes. */
    private static final long ROW_NANOS = 1_000_000;

    /** How long a message rests that follows another one of its id. */
    private static final Duration BEHIND_DELAY = Duration.ofSeconds(5);

    private final JournalTable table;

    private final JournalOffers offers;

    private final JournalRestorer restorer;

    private final JournalStatus status;

    private final PartitionLayouts layouts;

    private long nextAt = System.nanoTime();

    LedgerSweep(JournalTable table, JournalOffers offers, JournalRestorer restorer, JournalStatus status,
            PartitionLayouts layouts) {
        this.table = table;
        this.offers = offers;
        this.restorer = restorer;
        this.status = status;
        this.layouts = layouts;
    }

    /** Returns the time until more rows may be read, in nanoseconds. */
    long rest() {
        return this.nextAt - System.nanoTime();
    }

    /**
     * Checks the next rows, if it is time.
     * @return whether there may be more
     */
    boolean sweep() {
        if (rest() > 0) {
            return true;
        }
        long begin = System.nanoTime();
        List<JournalRow> found = this.table.dueForCheck(JournalTable.BATCH_LIMIT);
        Set<QueueName> paused = queuesOf(found).stream().filter(this::isPaused).collect(Collectors.toSet());
        List<JournalRow> own = this.table.postpone(found, LedgerSweep::nextCheck);
        List<JournalRow> rows = own.stream()
            .filter((row) -> !row.behind() && !this.status.isLeftAlone(row.request().queue()))
            .toList();
        List<JournalRow> cancels = rows.stream().filter((row) -> row.request().message() == null).toList();
        this.table.delete(cancels.stream().map(JournalRow::revision).toList());
        List<JournalRow> messages = rows.stream()
            .filter((row) -> row.request().message() != null && !paused.contains(row.request().queue()))
            .toList();
        RestoreReport report = this.restorer.offer(messages, begin);
        this.status.addSwept(messages.size());
        this.nextAt = System.nanoTime() + found.size() * ROW_NANOS;
        if (report.restored() > 0) {
            logger.warn("{} overdue messages were missing in Redis, and were restored from the journal",
                    report.restored());
        }
        return found.size() == JournalTable.BATCH_LIMIT;
    }

    private static Set<QueueName> queuesOf(List<JournalRow> rows) {
        return rows.stream().map((row) -> row.request().queue()).collect(Collectors.toSet());
    }

    private boolean isPaused(QueueName queue) {
        Pause pause = this.layouts.of(queue).join().pause();
        return pause != null && !pause.isOver(Instant.ofEpochMilli(this.offers.now(queue)));
    }

    /** Returns the delay until the check after this one, twice as long as the last. */
    private static Duration nextCheck(JournalRow row) {
        return row.behind() ? BEHIND_DELAY
                : JournalOffers.CHECK_DELAY.multipliedBy(1L << Math.min(row.checks(), MAX_DOUBLINGS));
    }

}
