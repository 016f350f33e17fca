package io.delayqueue.store;

import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.admin.DueForecast;
import io.delayqueue.admin.MessageSelection;
import org.jspecify.annotations.Nullable;

/**
 * Looks at what waits in a partition as a whole, and changes nothing. Apart from
 * {@link MessageInspector}, as only people and what watches for them ask. Threads and
 * failures are as with {@link MessageStore}.
 */
public interface QueueInspector {

    /** Counts, in time that grows at most with the logarithm of the messages. */
    CompletableFuture<PartitionCounts> counts(Partition partition);

    /** How many are due when; as quick. */
    CompletableFuture<DueForecast> horizon(Partition partition);

    /**
     * Messages in the order of a listing.
     * @param after behind what position; {@code null} for all
     * @param limit most messages, 1 to 101
     */
    CompletableFuture<List<ListedMessage>> messages(Partition partition, MessageSelection listing,
            @Nullable MessageCursor after, int limit);

}
