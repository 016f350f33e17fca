package io.delayqueue.journal;

import org.jspecify.annotations.Nullable;

/**
 * Restores messages from the journal of queues in the mode {@code ledger}. The sweep
 * restores overdue messages, and a node that notices a loss restores a queue, without
 * being asked; call this to restore more, or sooner.
 * <p>
 * Thread-safe. Any number of nodes may restore at the same time: a message that Redis
 * knows is left as it is.
 * <p>
 * Counts first what Redis has lost, then restores it: <pre class="code">
 * RestoreReport lost = journal.restore(RestorePlan.all().queue("orders").asDryRun());
 * journal.restore(RestorePlan.all().queue("orders").rate(1000));
 * </pre>
 */
public interface JournalOperations {

    /**
     * Returns whether the messages of a queue can be restored: whether its mode is
     * {@code ledger} in this application.
     */
    boolean covers(String queue);

    /**
     * Restores the messages of a plan, about in the order of their due times. Blocks the
     * calling thread until it is done, with at most one connection of the database. A
     * restore that was interrupted, or failed, may be repeated.
     * @throws io.delayqueue.StoreUnavailableException if the journal cannot be read, or
     * the queue of the plan was not yet compared with it
     * @throws RestoreRefusedException if the queue of the plan belongs to another
     * journal, or the database is older than Redis
     */
    RestoreReport restore(RestorePlan plan);

    /**
     * Restores the next messages of a plan, at most a thousand, and at most as many as it
     * permits in a second. Blocks the calling thread meanwhile. Any node may take the
     * next step.
     * @param cursor where the step begins; {@code null} for the first one
     * @throws IllegalArgumentException if no step has returned the cursor
     * @throws io.delayqueue.StoreUnavailableException if the journal cannot be read
     */
    RestoreStep restore(RestorePlan plan, @Nullable String cursor);

}
