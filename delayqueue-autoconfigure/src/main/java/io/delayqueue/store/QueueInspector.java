package io.delayqueue.store;

import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.admin.DueForecast;
import io.delayqueue.admin.MessageSelection;
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

}
