package io.delayqueue.admin;

import java.util.Collection;
import java.util.List;
import java.util.Map;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.admin.QueueActivity.Lateness;
import org.jspecify.annotations.Nullable;

/**
 * Lists and counts queues, messages and nodes, for operators and monitoring. Applications
 * that only send and receive use {@link DelayQueueOperations} instead. No method changes
 * a message.
 * <p>
 * Results are consistent within each partition, but not across partitions. The cost is at
 * most logarithmic in the number of messages, plus the number of listed entries.
 * Implementations are thread-safe. Every method throws {@link StoreUnavailableException}
 * if the store does not answer. <pre class="code">
 * for (String queue : inspector.queues(null, 100).queues()) {
 *     QueueOverview overview = inspector.overview(queue);
 *     System.out.println(queue + ": " + overview.due() + " due");
 * }
 * </pre>
 */
public interface DelayQueueInspector {

    /** Maximum number of queues in a page. */
    int MAX_QUEUES = 1_000;

    /** Maximum number of messages in a page. */
    int MAX_MESSAGES = 100;

    /**
     * Lists the queues in use, by name. A queue is listed shortly after its first use by
     * a process, until {@link #forget} removes it.
     * @param cursor {@link QueuePage#nextCursor()} of the previous page; {@code null} for
     * the first page
     * @param limit maximum number of queues in the page, 1 to {@value #MAX_QUEUES}
     * @return the page; empty if there are none
     * @throws IllegalArgumentException if the limit or the cursor is not valid
     */
    QueuePage queues(@Nullable String cursor, int limit);

    /**
     * Removes a queue from the list if it is empty, not paused, has no schedules, and
     * none of the {@link #nodes()} listens to it. A process that uses it a minute later
     * or after that adds it again.
     * @param queue the queue
     * @return {@code false} if it is not listed, holds messages or dead letters, is
     * paused, or has schedules or a listener
     */
    boolean forget(String queue);

    /**
     * Returns the processes with listeners, of all applications in the namespace, that
     * have reported within the last 20 seconds.
     * @return at most 1,000 processes, without those that use a version of this library
     * that does not report
     */
    List<NodeStatus> nodes();

    /**
     * Counts the messages of a queue.
     * @param queue the queue
     * @return the counts; all zero if no message was ever sent to the queue
     */
    QueueOverview overview(String queue);

    /**
     * Counts the messages of many queues with concurrent calls. If a queue cannot be
     * read, because one of its keys has another type or its master is down, the others
     * are still read. Later calls do not wait each time for a master that is down.
     * @param queues the queues
     * @return the results of {@link #overview}, in the order of {@code queues}, and the
     * failures
     * @throws StoreUnavailableException if none could be read because the store did not
     * answer
     */
    QueueOverviews overviews(Collection<String> queues);

    /**
     * Returns how many messages are due when.
     * @param queue the queue
     * @return the counts by time span from now
     */
    DueForecast dueForecast(String queue);

    /**
     * Lists messages of a queue, page by page. A message that changes its position
     * between two pages may be listed twice or not at all; all others are listed once.
     * @param queue the queue
     * @param listing which messages
     * @param cursor {@link MessagePage#nextCursor()} of the previous page of the same
     * listing; {@code null} for the first page
     * @param limit maximum number of messages in the page, 1 to {@value #MAX_MESSAGES}
     * @return the page; empty if there are none
     * @throws IllegalArgumentException if the limit or the cursor is not valid
     */
    MessagePage messages(String queue, MessageSelection listing, @Nullable String cursor, int limit);

    /**
     * Counts the waiting messages of a queue by when they become due: in the next hour by
     * minute, in the next day by hour, in the next two weeks by 24 hours.
     * @param queue the queue
     * @return the counts
     */
    DueHistogram dueHistogram(String queue);

    /**
     * Returns what all nodes together did with all queues within the last three hours, by
     * minute. The backlogs are those of the queues with recorded activity.
     * @return the activity
     */
    QueueActivity activity();

    /**
     * Returns what all nodes together did with a queue within the last three hours, by
     * minute. Counts handlers of listeners; messages that are received or consumed over
     * HTTP are not counted.
     * @param queue the queue
     * @return the activity; not recorded if no node has reported the queue within six
     * hours, or if there are too many queues
     */
    QueueActivity activity(String queue);

    /**
     * Returns how late handlers started on all nodes within the current minute and the
     * one before.
     * @return the lateness by queue, without queues whose handlers did not start
     */
    Map<String, Lateness> lateness();

    /**
     * Finds messages and dead letters by the beginning of their ids, part by part. There
     * is no index: all entries of the selection are examined, in steps that keep the
     * store busy for about a millisecond each at most. A part takes about 150 ms, or ends
     * with 100 findings. An entry that is there during the whole scan is found at least
     * once; one that changes its place meanwhile may be found twice.
     * @param queue the queue
     * @param selection what to examine
     * @param idPrefix the beginning of the ids; empty for all
     * @param cursor {@link MessageScanPage#nextCursor()} of the previous part of the same
     * scan; {@code null} for the first one
     * @return what was found; possibly nothing although there is a next part
     * @throws IllegalArgumentException if the cursor is not valid
     */
    MessageScanPage scan(String queue, ScanSelection selection, String idPrefix, @Nullable String cursor);

    /**
     * Counts the messages whose handler has failed and that are retried. Examines at most
     * 10,000 of those that came back from a lease.
     * @param queue the queue
     * @return the count
     */
    RetryingCount retrying(String queue);

    /**
     * Finds the messages and dead letters that have an id, in all listed queues, part by
     * part. A part takes about 150 ms, and at most {@value #MAX_QUEUES} queues. Queues
     * that cannot be read are reported.
     * @param id the id of a message
     * @param cursor {@link IdSearchPage#nextCursor()} of the previous part; {@code null}
     * for the first one
     * @return what was found; possibly nothing although there is a next part
     * @throws IllegalArgumentException if the id or the cursor is not valid
     */
    IdSearchPage search(String id, @Nullable String cursor);

    /**
     * Groups the latest dead letters of a queue by their causes, about
     * {@value DeadLetterCauses#MAX_EXAMINED} of them, in steps of 100.
     * @param queue the queue
     * @param byType whether to compare only the types of the exceptions, instead of the
     * first lines, whose texts may quote payloads
     * @return the groups, the largest first
     */
    DeadLetterCauses deadLetterCauses(String queue, boolean byType);

}
