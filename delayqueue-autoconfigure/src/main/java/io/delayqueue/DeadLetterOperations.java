package io.delayqueue;

import java.util.Optional;

import org.jspecify.annotations.Nullable;

/**
 * Lists, redrives and purges the dead letters of one queue. Implementations are
 * thread-safe. Every method throws {@link StoreUnavailableException} if the store does
 * not answer. <pre class="code">
 * DeadLetterOperations dead = delayQueue.deadLetters("order-timeout");
 * for (DeadLetter letter : dead.list(null, 100).deadLetters()) {
 *     dead.redrive(letter.id());
 * }
 * </pre>
 */
public interface DeadLetterOperations {

    /**
     * Returns a page of dead letters, the most recently dead-lettered first.
     * @param cursor {@link DeadLetterPage#nextCursor()} of the previous page;
     * {@code null} for the first page
     * @param limit maximum number of dead letters in the page, 1 to 100
     * @return the page; empty if there are none
     * @throws IllegalArgumentException if the limit or the cursor is not valid
     */
    DeadLetterPage list(@Nullable String cursor, int limit);

    /**
     * Finds a dead letter in constant time.
     * @param id the {@linkplain DeadLetter#id() id of the dead letter}
     * @return the dead letter; empty if there is none with that id, or it has been
     * redriven or purged
     */
    Optional<DeadLetter> find(String id);

    /**
     * Puts the message of a dead letter back into the queue, due now, and removes the
     * dead letter. The message gets all its attempts and its full time to live again.
     * While the queue holds another message with the same id, in any group, the dead
     * letter stays.
     * @param id the {@linkplain DeadLetter#id() id of the dead letter}
     * @return the result
     * @throws StoreRefusedException if the store rejects the message because it is full
     * or, in a queue that has had several partitions, if a message with the same id was
     * sent in another group and started during the call. The dead letter stays
     */
    RedriveResult redrive(String id);

    /**
     * Redrives the dead letters that exist now. Those whose message id is in use or whose
     * content is missing stay.
     * @return the number of redriven dead letters
     */
    long redriveAll();

    /**
     * Deletes a dead letter permanently.
     * @param id the {@linkplain DeadLetter#id() id of the dead letter}
     * @return {@code false} if there is no such dead letter
     */
    boolean purge(String id);

    /**
     * Deletes all dead letters of the queue permanently.
     * @return the number of deleted dead letters
     */
    long purgeAll();

    /** Maximum number of dead letters that one step of a bulk operation examines. */
    int MAX_PER_STEP = 500;

    /**
     * Counts the dead letters that match a filter, in steps of at most
     * {@value #MAX_PER_STEP}, from the most recently dead-lettered to the oldest. Changes
     * nothing.
     * @param filter selects the dead letters
     * @param cursor {@link DeadLetterBulkResult#nextCursor()} of the previous step;
     * {@code null} for the first one
     * @return the counts of this step
     * @throws IllegalArgumentException if the cursor is not valid
     */
    DeadLetterBulkResult count(DeadLetterFilter filter, @Nullable String cursor);

    /**
     * Redrives the dead letters that match a filter, in the same steps as {@link #count},
     * each like {@link #redrive(String)}. Messages that are dead-lettered in the meantime
     * are not included, so that a loop until there is no next cursor terminates. A failed
     * step can be repeated.
     * @param filter selects the dead letters
     * @param cursor as for {@link #count}
     * @return the result of this step
     */
    DeadLetterBulkResult redrive(DeadLetterFilter filter, @Nullable String cursor);

    /**
     * Deletes the dead letters that match a filter permanently, in the same steps as
     * {@link #count}.
     * @param filter selects the dead letters
     * @param cursor as for {@link #count}
     * @return the result of this step
     */
    DeadLetterBulkResult purge(DeadLetterFilter filter, @Nullable String cursor);

}
