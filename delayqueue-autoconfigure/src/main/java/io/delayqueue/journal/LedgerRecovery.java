package io.delayqueue.journal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.QueueName;
import io.delayqueue.store.LedgerEntry;
import io.delayqueue.store.Partition;
import io.delayqueue.store.RevisionPage;
import io.delayqueue.store.StoreFailures;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings the store into agreement with the ledgers of queues of which it has lost data,
 * step by step. First all these queues are paused, and what an older copy of the store
 * holds although it has ended or was cancelled is removed. Then messages are restored:
 * those that are due soon, in the order of their due times, after which the queues are
 * resumed, and then the others and the dead letters.
 * <p>
 * Messages are restored once more after the time of a claim: a request may have been
 * applied before the loss, and its row changed only after it was read here.
 * <p>
 * <strong>Threads.</strong> Confined to that of the reconciler.
 */
final class LedgerRecovery {

    private static final Logger logger = LoggerFactory.getLogger(LedgerRecovery.class);

    /** How long a recovery rests of which some messages failed. */
    private static final Duration RETRY_DELAY = Duration.ofSeconds(10);

    private final JournalTable table;

    private final EndedTable ended;

    private final JournalOffers offers;

    private final LedgerStore store;

    private final JournalRestorer restorer;

    private final RestorePauses pauses;

    /** The queues that are to be prepared, and when, by the monotonic clock. */
    private final Map<QueueName, Long> lost = new LinkedHashMap<>();

    /** The queues that are to be restored next. */
    private final Set<QueueName> prepared = new LinkedHashSet<>();

    /** The queues that are to be restored once more, and when. */
    private final Map<QueueName, Long> repeated = new HashMap<>();

    /** The entries of the store that are reported once their queue is restored. */
    private final Map<Partition, LedgerEntry> entries = new HashMap<>();

    private @Nullable Run run;

    LedgerRecovery(JournalTable table, JournalOffers offers, LedgerStore store, JournalRestorer restorer,
            RestorePauses pauses) {
        this.table = table;
        this.ended = new EndedTable(table.database());
        this.offers = offers;
        this.store = store;
        this.restorer = restorer;
        this.pauses = pauses;
    }

    /** Adds a queue of which the store may have lost data. */
    void lost(QueueName queue) {
        this.lost.putIfAbsent(queue, System.nanoTime());
    }

    /**
     * Adds the queue of a partition that asks for it by an entry, which remains until the
     * queue is restored.
     */
    void lost(Partition partition, LedgerEntry entry) {
        if (!entry.equals(this.entries.put(partition, entry))) {
            lost(partition.queue());
        }
    }

    /** Returns the entry of a partition that is not restored yet. */
    List<LedgerEntry> held(Partition partition) {
        LedgerEntry entry = this.entries.get(partition);
        return (entry != null && isPending(partition.queue())) ? List.of(entry) : List.of();
    }

    /** Removes and returns the entry of a partition that is restored. */
    List<LedgerEntry> restored(Partition partition) {
        LedgerEntry entry = this.entries.get(partition);
        if (entry == null || isPending(partition.queue())) {
            return List.of();
        }
        this.entries.remove(partition);
        return List.of(entry);
    }

    private boolean isPending(QueueName queue) {
        Run current = this.run;
        return this.lost.containsKey(queue) || this.prepared.contains(queue)
                || (current != null && current.queues.contains(queue));
    }

    /**
     * Does the next steps.
     * @param reachable the queues whose partitions have answered in this round
     * @return whether there is more to do now
     */
    boolean step(List<QueueName> reachable) {
        RuntimeException failure = null;
        for (QueueName queue : reachable) {
            if (isTime(this.lost.get(queue))) {
                try {
                    prepare(queue);
                }
                catch (RuntimeException ex) {
                    this.lost.put(queue, System.nanoTime() + RETRY_DELAY.toNanos());
                    failure = ex;
                }
            }
        }
        if (this.run == null) {
            begin(reachable);
        }
        Run current = this.run;
        if (current != null) {
            try {
                restore(current);
            }
            catch (RuntimeException ex) {
                this.run = null;
                current.queues.forEach((queue) -> this.lost.put(queue, System.nanoTime() + RETRY_DELAY.toNanos()));
                failure = ex;
            }
        }
        if (failure != null) {
            throw failure;
        }
        return this.run != null;
    }

    private static boolean isTime(@Nullable Long time) {
        return time != null && System.nanoTime() - time >= 0;
    }

    private void begin(List<QueueName> reachable) {
        if (!this.prepared.isEmpty()) {
            this.run = run(List.copyOf(this.prepared), true);
            this.prepared.clear();
            return;
        }
        List<QueueName> again = reachable.stream().filter((queue) -> isTime(this.repeated.get(queue))).toList();
        if (!again.isEmpty()) {
            this.run = run(again, false);
            again.forEach(this.repeated::remove);
        }
    }

    private Run run(List<QueueName> queues, boolean first) {
        return new Run(queues, first, this.restorer.reader(RestoreSelection.of(queues)),
                RestoreCursor.start(this.restorer.horizon(queues)));
    }

    /** Pauses a queue that has a ledger, and removes what the store should not hold. */
    private void prepare(QueueName queue) {
        if (this.table.hasAccepted(queue)) {
            logger.info("Redis may have lost data of queue '{}', which is compared with its journal", queue);
            this.pauses.begin(queue);
        }
        long removed = endAgain(queue);
        long failed = this.restorer.cancelAgain(queue);
        if (removed > 0) {
            logger.warn("Redis has brought back {} messages of queue '{}' that had ended: they were removed again",
                    removed, queue);
        }
        if (failed > 0) {
            throw new IllegalStateException("%d cancels of queue '%s' failed".formatted(failed, queue));
        }
        this.lost.remove(queue);
        this.prepared.add(queue);
    }

    /** Removes messages that have ended lately, and returns how many. */
    private long endAgain(QueueName queue) {
        long[] known = null;
        long removed = 0;
        for (Partition partition : this.store.partitions(queue)) {
            String cursor = RevisionPage.START;
            do {
                RevisionPage page = this.store.page(partition, cursor);
                if (known == null && !page.revisions().isEmpty()) {
                    known = this.ended.revisions(queue);
                }
                removed += endAgain(queue, page, (known != null) ? known : new long[0]);
                cursor = page.next();
            }
            while (!cursor.equals(RevisionPage.END));
        }
        return removed;
    }

    private long endAgain(QueueName queue, RevisionPage page, long[] known) {
        List<CompletableFuture<?>> calls = new ArrayList<>();
        page.revisions().forEach((id, revision) -> {
            if (Arrays.binarySearch(known, revision) >= 0) {
                calls.add(this.offers.endAgain(queue, id, revision));
            }
        });
        calls.forEach(CompletableFuture::join);
        return calls.size();
    }

    private void restore(Run current) {
        RestoreCursor cursor = current.cursor;
        RestorePage page = current.reader.read(cursor);
        current.report = current.report.plus(this.restorer.offer(page));
        RestoreCursor next = page.next();
        if (current.first && cursor.part() == RestoreCursor.Part.SOON
                && (next == null || next.part() != RestoreCursor.Part.SOON) && current.report.failed() == 0) {
            current.queues.forEach(this.pauses::end);
        }
        if (next != null) {
            current.cursor = next;
            return;
        }
        this.run = null;
        end(current);
    }

    private void end(Run current) {
        RestoreReport report = current.report;
        if (report.restored() > 0) {
            logger.warn("Redis had lost messages of queues {}: they were restored from the journal: {}", current.queues,
                    report);
        }
        if (report.failed() > 0) {
            current.queues.forEach((queue) -> this.lost.put(queue, System.nanoTime() + RETRY_DELAY.toNanos()));
            return;
        }
        current.queues.forEach(this.pauses::end);
        if (current.first) {
            long time = System.nanoTime() + this.table.claim().toNanos();
            current.queues.forEach((queue) -> this.repeated.put(queue, time));
        }
    }

    /** Holds a restore of queues that is in progress. */
    private static final class Run {

        private final List<QueueName> queues;

        /** Whether it is not the repetition. */
        private final boolean first;

        private final JournalRestorer.PageReader reader;

        private RestoreCursor cursor;

        private RestoreReport report = RestoreReport.NONE;

        Run(List<QueueName> queues, boolean first, JournalRestorer.PageReader reader, RestoreCursor cursor) {
            this.queues = queues;
            this.first = first;
            this.reader = reader;
            this.cursor = cursor;
        }

    }

}
