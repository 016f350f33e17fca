package io.delayqueue.journal;

import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.QueueName;
import io.delayqueue.journal.RestoreCursor.Part;
import org.jspecify.annotations.Nullable;

/**
 * Holds a restore of queues that is in progress: the next page, and the offers of the
 * present one.
 * <p>
 * <strong>Threads.</strong> Confined to that of the reconciler.
 */
final class RestoreRun {

    private final boolean first;

    private final JournalRestorer.PageReader reader;

    private final Map<QueueName, RestoreReport> reports = new HashMap<>();

    /** The offers of the present page that have no answer. */
    private final Map<QueueName, CompletableFuture<RestoreReport>> offers = new HashMap<>();

    /** When the present page was read, in nanoseconds of the monotonic clock. */
    private long readAt;

    private RestoreCursor cursor;

    /** The cursor of the next page; {@code null} after the last one. */
    private @Nullable RestoreCursor next;

    /**
     * Creates a restore.
     * @param first whether this is not the repetition of a restore
     * @param cursor that of the first page
     */
    RestoreRun(Collection<QueueName> queues, boolean first, JournalRestorer.PageReader reader, RestoreCursor cursor) {
        queues.forEach((queue) -> this.reports.put(queue, RestoreReport.NONE));
        this.first = first;
        this.reader = reader;
        this.cursor = cursor;
        this.next = cursor;
    }

    /** Returns the queues that have not left this restore. */
    Set<QueueName> queues() {
        return new LinkedHashSet<>(this.reports.keySet());
    }

    boolean isFirst() {
        return this.first;
    }

    boolean contains(QueueName queue) {
        return this.reports.containsKey(queue);
    }

    /** Reads the next page. */
    RestorePage read() {
        if (this.next != null) {
            this.cursor = this.next;
        }
        RestorePage page = this.reader.read(this.cursor);
        this.readAt = page.readAt();
        this.next = page.next();
        return page;
    }

    /** Returns whether the present page is the last one. */
    boolean isLast() {
        return this.next == null;
    }

    /** Returns whether all messages were offered that are due soon, and no others. */
    boolean hasEndedSoon() {
        return this.cursor.part() == Part.SOON && (this.next == null || this.next.part() != Part.SOON);
    }

    void offered(QueueName queue, CompletableFuture<RestoreReport> offer) {
        this.offers.put(queue, offer);
    }

    /** Returns whether an offer of the present page has no answer yet. */
    boolean isWaiting() {
        return !this.offers.isEmpty();
    }

    boolean isWaitingFor(QueueName queue, CompletableFuture<RestoreReport> offer) {
        return this.offers.get(queue) == offer;
    }

    /** Adds the answer to an offer of the present page. */
    void answered(QueueName queue, RestoreReport report) {
        this.offers.remove(queue);
        this.reports.merge(queue, report, RestoreReport::plus);
    }

    /** Removes a queue, and returns how many of its messages were restored. */
    long leave(QueueName queue) {
        this.offers.remove(queue);
        RestoreReport report = this.reports.remove(queue);
        return (report != null) ? report.restored() : 0;
    }

    boolean hasFailed(QueueName queue) {
        return report(queue).failed() > 0;
    }

    private RestoreReport report(QueueName queue) {
        return this.reports.getOrDefault(queue, RestoreReport.NONE);
    }

    /** Returns the counts of all queues that have not left. */
    RestoreReport report() {
        return this.reports.values().stream().reduce(RestoreReport.NONE, RestoreReport::plus);
    }

    /**
     * Returns the queues whose offers have no answer although those of others have, and
     * the page was read a while ago.
     */
    List<QueueName> silent(long nanos) {
        boolean some = isWaiting() && this.offers.size() < this.reports.size();
        return (some && System.nanoTime() - this.readAt >= nanos) ? List.copyOf(this.offers.keySet()) : List.of();
    }

    /**
     * Moves queues to a restore of their own, which continues after the present page.
     * @param ownReader reads the pages of these queues
     */
    RestoreRun split(List<QueueName> queues, JournalRestorer.PageReader ownReader) {
        RestoreRun own = new RestoreRun(queues, this.first, ownReader, this.cursor);
        own.next = this.next;
        own.readAt = this.readAt;
        for (QueueName queue : queues) {
            own.reports.put(queue, report(queue));
            CompletableFuture<RestoreReport> offer = this.offers.get(queue);
            if (offer != null) {
                own.offers.put(queue, offer);
            }
            leave(queue);
        }
        return own;
    }

}
