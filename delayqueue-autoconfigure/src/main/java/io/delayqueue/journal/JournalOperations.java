package io.delayqueue.journal;

/**
 * Restores messages from the journal of queues in the mode {@code ledger}. The sweep
 * restores overdue messages, and a node that notices a loss restores a queue, without
 * being asked; call this to restore more, or sooner.
 * <p>
 * Thread-safe. Any number of nodes may restore at the same time: a message that Redis
 * knows is left as it is.
 */
public interface JournalOperations {

    /**
     * Restores the messages of a plan, about in the order of their due times. Blocks the
     * calling thread until it is done, with at most one connection of the database. A
     * restore that was interrupted, or failed, may be repeated.
     * @throws org.springframework.dao.DataAccessException if the journal cannot be read
     */
    RestoreReport restore(RestorePlan plan);

}
