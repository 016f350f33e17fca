package io.delayqueue.admin;

import java.util.Collection;
import java.util.List;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.StoreUnavailableException;
import org.jspecify.annotations.Nullable;

/**
 * Looks at queues as a whole, for people and for what watches over them; applications
 * that send and receive need {@link DelayQueueOperations} only. Nothing here changes a
 * message.
 * <p>
 * What it answers was so at one moment of each partition. Its cost grows at most with the
 * logarithm of the messages, and with what is listed. Implementations are thread-safe.
 * Every method throws {@link StoreUnavailableException} if the store does not answer.
 */
public interface DelayQueueInspector {

    /** Most queues of a page. */
    int MOST_QUEUES = 1_000;

    /** Most messages of a page. */
    int MOST_MESSAGES = 100;

    /**
     * The queues that were sent to or listened to, by name. A queue is listed from about
     * its first use in a process on, and stays until somebody forgets it.
     * @param cursor {@link QueuePage#nextCursor()} of the page before; {@code null} for
     * the first page
     * @param limit most queues of the page, 1 to {@value #MOST_QUEUES}
     * @return the page; empty if there are none
     * @throws IllegalArgumentException if the limit or the cursor is not valid
     */
    QueuePage queues(@Nullable String cursor, int limit);

    /**
     * Strikes a queue off the list if it holds nothing, is not paused, and none of the
     * {@link #nodes()} listens to it. Who uses it a minute later or after that puts it
     * there again.
     * @param queue the queue
     * @return {@code false} if it is not in the list, holds messages or dead letters, is
     * paused, or is listened to
     */
    boolean forget(String queue);

    /**
     * The processes that have listeners, of all applications in the namespace, as far as
     * they have told of themselves within the last 20 seconds.
     * @return at most 1,000 of them; those that use an earlier version of this library
     * are missing
     */
    List<NodeStatus> nodes();

    /**
     * Counts the messages of a queue.
     * @param queue the queue
     * @return the counts; all zero if nobody ever sent to it
     */
    QueueOverview overview(String queue);

    /**
     * Counts the messages of many queues, without waiting for one after the other. One
     * that cannot be read, as a key of it has another type or its master is dead, leaves
     * the others to be read; while a master is dead it is not waited for each time.
     * @param queues the queues
     * @return what {@link #overview} answers, in their order, and the failures
     * @throws StoreUnavailableException if none could be read, as the store did not
     * answer
     */
    QueueOverviews overviews(Collection<String> queues);

    /**
     * Tells how many messages are due when.
     * @param queue the queue
     * @return how many, by spans from now on
     */
    DueForecast horizon(String queue);

    /**
     * Lists messages of a queue, page by page. What moves while somebody turns pages may
     * be listed twice or not at all; what does not is listed once.
     * @param queue the queue
     * @param listing which messages
     * @param cursor {@link MessagePage#nextCursor()} of the page before, of the same
     * listing; {@code null} for the first page
     * @param limit most messages of the page, 1 to {@value #MOST_MESSAGES}
     * @return the page; empty if there are none
     * @throws IllegalArgumentException if the limit or the cursor is not valid
     */
    MessagePage messages(String queue, MessageSelection listing, @Nullable String cursor, int limit);

}
