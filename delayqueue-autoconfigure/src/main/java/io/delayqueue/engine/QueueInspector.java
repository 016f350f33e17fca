package io.delayqueue.engine;

import java.util.concurrent.CompletableFuture;

import io.delayqueue.QueueHorizon;

/**
 * Looks at what waits in a partition as a whole, and changes nothing. Apart from
 * {@link MessageInspector}, as only people and what watches for them ask. Threads and
 * failures are as with {@link MessageStore}.
 */
public interface QueueInspector {

    /** Counts, in time that grows at most with the logarithm of the messages. */
    CompletableFuture<PartitionCounts> counts(Partition partition);

    /** How many are due when; as quick. */
    CompletableFuture<QueueHorizon> horizon(Partition partition);

}
