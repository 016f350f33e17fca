package io.delayqueue.admin;

import java.util.Collection;
import java.util.List;

import io.delayqueue.CancelResult;

/**
 * Reads and erases the recorded transitions of single messages, finished ones included.
 * Available for queues whose journal has the mode {@code audit} or {@code ledger}.
 * Implementations are thread-safe. <pre class="code">
 * for (HistoryEntry entry : history.of("orders", "42")) {
 *     System.out.println(entry.at() + " " + entry.event() + " " + entry.node());
 * }
 * </pre>
 */
public interface MessageHistory {

    /** Maximum number of entries that are returned for a message. */
    int MAX_ENTRIES = 1_000;

    /**
     * Returns the transitions of a message, the earliest first. A transition is listed a
     * fraction of a second after it happened, and until the retention time is over. If
     * there are more than {@value #MAX_ENTRIES}, returns the latest.
     * @param queue the queue
     * @param id the id of the message; it may have been used several times
     * @return the transitions; empty if none is recorded
     * @throws io.delayqueue.StoreUnavailableException if the database does not answer
     */
    List<HistoryEntry> of(String queue, String id);

    /**
     * Returns the queues that have recorded transitions of an id.
     * @param id the id of the message
     * @param queues the queues to search, at most 1,000
     * @return those of {@code queues} with a transition, in no order
     * @throws io.delayqueue.StoreUnavailableException if the database does not answer
     */
    List<String> queuesOf(String id, Collection<String> queues);

    /**
     * Erases an id: cancels its message, deletes its dead letters and its recorded
     * transitions. A message that is being handled ends with its handler, and other
     * processes may still hold transitions that they have not written: erase the id again
     * after that. Reads all dead letters of the queue, so the call takes long if there
     * are many.
     * @param queue the queue
     * @param id the id of the message
     * @return what was erased
     * @throws io.delayqueue.StoreUnavailableException if the store or the database does
     * not answer; some of it may be erased
     */
    Erasure erase(String queue, String id);

    /**
     * Holds what was erased of an id.
     *
     * @param message the result of the cancel; {@link CancelResult#LEASED} if the message
     * is being handled
     * @param deadLetters number of dead letters that were deleted
     * @param entries number of transitions that were deleted
     */
    record Erasure(CancelResult message, long deadLetters, long entries) {
    }

}
