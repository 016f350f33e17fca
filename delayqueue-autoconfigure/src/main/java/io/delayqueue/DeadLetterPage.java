package io.delayqueue;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Holds a page of the dead letters of a queue.
 *
 * @param deadLetters the dead letters, the most recently dead-lettered first
 * @param nextCursor the cursor of the next page; {@code null} if this is the last one
 * @see DeadLetterOperations
 */
public record DeadLetterPage(List<DeadLetter> deadLetters, @Nullable String nextCursor) {

    public DeadLetterPage {
        deadLetters = List.copyOf(deadLetters);
    }

}
