package io.delayqueue;

import org.jspecify.annotations.Nullable;

/**
 * Looks at the dead letters of one queue, and acts on them. Implementations are
 * thread-safe. Every method throws {@link StoreUnavailableException} if the store does
 * not answer.
 */
public interface DeadLetterOperations {

    /**
     * Reads a page of dead letters, the latest death first.
     * @param cursor {@link DeadLetterPage#nextCursor()} of the page before; {@code null}
     * for the first page
     * @param limit most letters of the page, 1 to 100
     * @return the page; empty if there are none
     * @throws IllegalArgumentException if the limit or the cursor is not valid
     */
    DeadLetterPage list(@Nullable String cursor, int limit);

    /**
     * Makes the message of a dead letter due now. Its attempts start anew, its time to
     * live counts anew, and the dead letter is gone. While the queue holds another
     * message of the id, in whatever group, the dead letter stays.
     * @param letterId {@link DeadLetter#letterId()}
     * @return what happened
     * @throws StoreRefusedException if the store will not have the message, as it is
     * full; in a queue that had several partitions also if, during the call, a message of
     * the id was sent in another group and begun. The dead letter stays then
     */
    RedriveResult redrive(String letterId);

    /**
     * Redrives the dead letters that are there now. Letters whose message id is in use or
     * that have no message stay.
     * @return how many were redriven
     */
    long redriveAll();

    /**
     * Removes a dead letter for good.
     * @param letterId {@link DeadLetter#letterId()}
     * @return {@code false} if there is no such dead letter
     */
    boolean purge(String letterId);

    /**
     * Removes all dead letters of the queue for good.
     * @return how many were removed
     */
    long purgeAll();

}
