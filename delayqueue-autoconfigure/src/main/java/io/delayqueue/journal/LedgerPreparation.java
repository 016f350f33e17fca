package io.delayqueue.journal;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

import io.delayqueue.QueueName;
import io.delayqueue.store.Partition;
import io.delayqueue.store.RevisionPage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Prepares a queue for a restore, in steps of a page: pauses the queue, and removes the
 * messages that an older copy of the store holds although they have ended or were
 * cancelled.
 * <p>
 * <strong>Threads.</strong> Confined to that of the reconciler, which does not wait for
 * the store between two steps.
 */
final class LedgerPreparation {

    private static final Logger logger = LoggerFactory.getLogger(LedgerPreparation.class);

    /** Cancels that are read at once. */
    private static final int PAGE = 1000;

    private final QueueName queue;

    private final JournalTable table;

    private final EndedTable endings;

    private final CancelRows cancelRows;

    private final OfferSender offers;

    private final LedgerLookup store;

    private final RestorePauses pauses;

    private final JournalStatus status;

    private final Executor thread;

    /** The partitions that are not scanned yet, and the cursor in the first of them. */
    private final Deque<Partition> partitions = new ArrayDeque<>();

    private String cursor = RevisionPage.START;

    /** The revisions of messages that have ended; read once the store holds a message. */
    private final EndedRevisions ended;

    private long removed;

    private RestoreCursor cancels = RestoreCursor.start(0).nextPart();

    private long failedCancels;

    LedgerPreparation(QueueName queue, JournalTable table, OfferSender offers, LedgerLookup store, RestorePauses pauses,
            JournalStatus status, Executor thread) {
        this(queue, table, offers, store, pauses, status, thread, EndedRevisions.LIMIT);
    }

    /**
     * Creates a preparation.
     * @param endsLimit the number of ended messages that are in memory at once
     */
    LedgerPreparation(QueueName queue, JournalTable table, OfferSender offers, LedgerLookup store, RestorePauses pauses,
            JournalStatus status, Executor thread, int endsLimit) {
        this.queue = queue;
        this.table = table;
        this.endings = new EndedTable(table.database());
        this.ended = new EndedRevisions(this.endings, queue, endsLimit);
        this.cancelRows = new CancelRows(table);
        this.offers = offers;
        this.store = store;
        this.pauses = pauses;
        this.status = status;
        this.thread = thread;
    }

    /** Starts the first step, and returns the end of the last one. */
    CompletableFuture<Void> run() {
        return CompletableFuture.runAsync(() -> {
        }, this.thread)
            .thenCompose((begun) -> this.offers.prepared(this.queue))
            .thenComposeAsync((prepared) -> pause(), this.thread)
            .thenComposeAsync((paused) -> this.store.partitions(this.queue), this.thread)
            .thenComposeAsync(this::scan, this.thread)
            .thenComposeAsync((scanned) -> cancelAgain(), this.thread);
    }

    /** Prevents a step if the queue has become one that is not to be restored. */
    private void requireRestored() {
        if (this.status.isLeftAlone(this.queue)) {
            throw new IllegalStateException("Queue '%s' is not to be restored now".formatted(this.queue));
        }
    }

    private CompletableFuture<Void> pause() {
        requireRestored();
        if (!this.table.hasAccepted(this.queue)) {
            return CompletableFuture.completedFuture(null);
        }
        logger.info("Redis may have lost data of queue '{}', which is compared with its journal", this.queue);
        return this.pauses.begin(this.queue);
    }

    /** Scans all partitions, once for each part of the ends. */
    private CompletableFuture<Void> scan(List<Partition> all) {
        this.partitions.addAll(all);
        return StepLoop.run(this.thread, this::scanPage)
            .thenComposeAsync((scanned) -> scanForNextPart(all), this.thread);
    }

    private CompletableFuture<Void> scanForNextPart(List<Partition> all) {
        if (this.ended.next()) {
            return scan(all);
        }
        return CompletableFuture.completedFuture(null);
    }

    private @Nullable CompletableFuture<?> scanPage() {
        Partition partition = this.partitions.peek();
        return (partition == null) ? null
                : this.store.page(partition, this.cursor).thenComposeAsync(this::endAgain, this.thread);
    }

    /**
     * Removes the messages of a page that have ended, after a part of the ends is read.
     */
    private CompletableFuture<Void> endAgain(RevisionPage page) {
        if (page.revisions().isEmpty() || this.ended.isComplete()) {
            return removeEnded(page);
        }
        return StepLoop.run(this.thread, this::readEnded).thenComposeAsync((read) -> removeEnded(page), this.thread);
    }

    private @Nullable CompletableFuture<?> readEnded() {
        requireRestored();
        if (this.ended.isComplete()) {
            return null;
        }
        this.ended.readPage();
        return CompletableFuture.completedFuture(null);
    }

    private CompletableFuture<Void> removeEnded(RevisionPage page) {
        requireRestored();
        Map<String, Long> over = endedOf(page);
        // A database that has lost its last transactions may have assigned a revision
        // twice.
        over.keySet().removeAll(this.endings.idsWithRows(over));
        List<CompletableFuture<?>> calls = new ArrayList<>();
        over.forEach((id, revision) -> calls.add(this.offers.endAgain(this.queue, id, revision)));
        this.removed += calls.size();
        this.cursor = page.next();
        if (this.cursor.equals(RevisionPage.END)) {
            this.partitions.remove();
        }
        return CompletableFuture.allOf(calls.toArray(CompletableFuture[]::new));
    }

    /**
     * Returns the messages of a page that have ended, by ids. If the successor of a
     * message has ended, the message has too, or it must not be retried.
     */
    private Map<String, Long> endedOf(RevisionPage page) {
        Map<String, Long> over = new HashMap<>();
        page.revisions().forEach((id, revision) -> {
            long successor = page.successors().getOrDefault(id, 0L);
            if (this.ended.contains(successor)) {
                over.put(id, successor);
            }
            else if (this.ended.contains(revision)) {
                over.put(id, revision);
            }
        });
        return over;
    }

    private CompletableFuture<Void> cancelAgain() {
        if (this.removed > 0) {
            logger.warn("Redis has brought back {} messages of queue '{}' that had ended: they were removed again",
                    this.removed, this.queue);
        }
        return StepLoop.run(this.thread, this::cancelPage).thenRun(() -> {
            if (this.failedCancels > 0) {
                throw new IllegalStateException(
                        "%d cancels of queue '%s' failed".formatted(this.failedCancels, this.queue));
            }
        });
    }

    /** Cancels again what an older copy of the store may have brought back. */
    private @Nullable CompletableFuture<?> cancelPage() {
        requireRestored();
        CancelRows.Page page = this.cancelRows.page(this.queue, this.cancels, PAGE);
        DueRevision last = page.last();
        if (last == null) {
            return null;
        }
        this.cancels = this.cancels.behind(last.due(), last.revision());
        if (page.keys().isEmpty()) {
            return CompletableFuture.completedFuture(null);
        }
        // The limit of the calls begins behind the search, which may take long.
        long begin = System.nanoTime();
        List<CompletableFuture<?>> calls = this.cancelRows.effective(page.keys())
            .stream()
            .<CompletableFuture<?>>map((row) -> this.offers.cancelAgain(row, begin))
            .toList();
        return RestoreOffers.ended(calls)
            .thenRunAsync(() -> this.failedCancels += calls.stream()
                .filter((call) -> RestoreOffers.failure(call) != null)
                .count(), this.thread);
    }

}
