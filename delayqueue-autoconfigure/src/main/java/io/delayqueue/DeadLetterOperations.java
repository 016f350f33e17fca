package io.delayqueue;

import java.util.Optional;

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
     * Finds a dead letter, in one step however many there are.
     * @param letterId {@link DeadLetter#letterId()}
     * @return the dead letter; empty if there is none of that name, or not any more
     */
    Optional<DeadLetter> find(String letterId);

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

    /** Most dead letters that one step of a sweep looks at. */
    int MOST_OF_A_SWEEP = 500;

    /**
     * Counts the dead letters that a filter means, in steps of at most
     * {@value #MOST_OF_A_SWEEP}, from the latest death to the earliest; changes nothing.
     * @param filter which
     * @param cursor {@link DeadLetterBulkResult#nextCursor()} of the step before;
     * {@code null} for the first one
     * @return what this step has found
     * @throws IllegalArgumentException if the cursor is not valid
     */
    DeadLetterBulkResult count(DeadLetterFilter filter, @Nullable String cursor);

    /**
     * Redrives the dead letters that a filter means, in the steps of {@link #count}, each
     * as {@link #redrive(String)} does. What dies meanwhile is not met: who goes on until
     * there is no next cursor comes to an end. A step that fails may be made again.
     * @param filter which
     * @param cursor as for {@link #count}
     * @return what this step has done
     */
    DeadLetterBulkResult redrive(DeadLetterFilter filter, @Nullable String cursor);

    /**
     * Removes the dead letters that a filter means for good, in the steps of
     * {@link #count}.
     * @param filter which
     * @param cursor as for {@link #count}
     * @return what this step has done
     */
    DeadLetterBulkResult purge(DeadLetterFilter filter, @Nullable String cursor);

}
