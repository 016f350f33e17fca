package io.delayqueue.store;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.DeadLetter;
import io.delayqueue.DeadLetterPage;
import io.delayqueue.QueueStatistics;
import io.delayqueue.StoredMessage;
import org.jspecify.annotations.Nullable;

/**
 * Reads messages and dead letters without changing them. Separate from
 * {@link MessageStore}, so that reads can be added without touching the hot path. Threads
 * and failures are the same as there.
 */
public interface MessageInspector {

    /** Returns the message with that id, waiting or leased. */
    CompletableFuture<Optional<StoredMessage>> find(PartitionTarget target, String id);

    /** Returns the counts, in time at most logarithmic in the number of messages. */
    CompletableFuture<QueueStatistics> statistics(Partition partition);

    /**
     * Returns a page of dead letters, the most recently dead-lettered first.
     * @param cursor where the previous page ended; {@code null} for the first page
     * @param limit 1 to 100
     */
    CompletableFuture<DeadLetterPage> deadLetters(Partition partition, @Nullable String cursor, int limit);

    /** Returns the dead letter with that id. */
    CompletableFuture<Optional<DeadLetter>> deadLetter(Partition partition, String deadLetterId);

    /**
     * Returns the message to send for the redrive of a dead letter; its envelope is empty
     * if the dead letter has no content.
     */
    CompletableFuture<Optional<NewMessage>> deadLetteredMessage(Partition partition, String deadLetterId);

}
