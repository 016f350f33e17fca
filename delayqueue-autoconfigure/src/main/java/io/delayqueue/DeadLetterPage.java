package io.delayqueue;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Holds a page of the dead letters of a queue.
 *
 * @param letters the dead letters, the most recently dead-lettered first
 * @param nextCursor the cursor of the next page; {@code null} if this is the last one
 */
public record DeadLetterPage(List<DeadLetter> letters, @Nullable String nextCursor) {

    public DeadLetterPage {
        letters = List.copyOf(letters);
    }

}
