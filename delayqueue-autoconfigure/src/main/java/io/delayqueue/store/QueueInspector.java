package io.delayqueue.store;

import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.admin.DueForecast;
import io.delayqueue.admin.MessageScanPage;
import io.delayqueue.admin.MessageSelection;
import io.delayqueue.admin.ScanSelection;
import org.jspecify.annotations.Nullable;

/**
 * Counts and lists the messages of a partition without changing them. Separate from
 * {@link MessageInspector}, because it serves only operators and monitoring. Threads and
 * failures are the same as in {@link MessageStore}.
 */
public interface QueueInspector {

    /** Returns the counts, in time at most logarithmic in the number of messages. */
    CompletableFuture<PartitionCounts> counts(Partition partition);

    /** Returns how many messages are due when, in the same time. */
    CompletableFuture<DueForecast> dueForecast(Partition partition);

    /**
     * Returns messages in the order of a listing.
     * @param after the position after which the result starts; {@code null} for the
     * beginning
     * @param limit maximum number of messages, 1 to 101
     */
    CompletableFuture<List<ListedMessage>> messages(Partition partition, MessageSelection listing,
            @Nullable MessageCursor after, int limit);

    /**
     * Returns how many messages are due until each of the given times, in the same time
     * for each.
     * @param ends the times, at most 100
     */
    CompletableFuture<DueCounts> dueCounts(Partition partition, List<Instant> ends);

    /**
     * Takes one bounded step of a walk through messages and dead letters, in no order. An
     * entry that is there during the whole walk is found at least once.
     * @param idPrefix the beginning of the ids; empty for any
     * @param cursor of the step before; {@code null} for the first one
     */
    CompletableFuture<MessageScanPage> scan(Partition partition, ScanSelection selection, String idPrefix,
            @Nullable String cursor);

    /** Takes one step of a count of messages that have failed, like {@link #scan}. */
    CompletableFuture<RetryingStep> countRetrying(Partition partition, @Nullable String cursor);

    /**
     * Takes one step of a search for a message and its dead letters. The first step finds
     * the message.
     * @param cursor of the step before; {@code null} for the first one
     */
    CompletableFuture<LocatedId> locate(Partition partition, String id, @Nullable String cursor);

    /**
     * Returns a page of dead letters with the first lines of their causes, the latest
     * first.
     * @param cursor of the page before; {@code null} for the first one
     * @param limit 1 to 100
     */
    CompletableFuture<DeadLetterSummaryPage> deadLetterSummaries(Partition partition, @Nullable String cursor,
            int limit);

}
