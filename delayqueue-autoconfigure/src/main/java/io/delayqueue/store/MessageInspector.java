package io.delayqueue.store;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.DeadLetter;
import io.delayqueue.DeadLetterPage;
import io.delayqueue.QueueStatistics;
import io.delayqueue.StoredMessage;
import org.jspecify.annotations.Nullable;

/**
 * Looks at what a store holds, and changes nothing. Apart from {@link MessageStore}, so
 * that looking may grow without touching the hot path. Threads and failures are as there.
 */
public interface MessageInspector {

    /** The message of that id that waits or is leased. */
    CompletableFuture<Optional<StoredMessage>> find(PartitionTarget home, String id);

    /** Counts, in time that grows at most with the logarithm of the messages. */
    CompletableFuture<QueueStatistics> statistics(Partition partition);

    /**
     * Dead letters, the latest death first.
     * @param cursor where the page before ended; {@code null} for the first
     * @param limit 1 to 100
     */
    CompletableFuture<DeadLetterPage> deadLetters(Partition partition, @Nullable String cursor, int limit);

    /** The dead letter of that name. */
    CompletableFuture<Optional<DeadLetter>> deadLetter(Partition partition, String letterId);

    /**
     * The message of a dead letter, as it would be sent again; its envelope is empty if
     * the letter has none.
     */
    CompletableFuture<Optional<NewMessage>> buried(Partition partition, String letterId);

}
