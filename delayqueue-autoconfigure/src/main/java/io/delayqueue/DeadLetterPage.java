package io.delayqueue;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Some of the dead letters of a queue.
 *
 * @param letters the dead letters, the latest death first
 * @param nextCursor where the next page begins; {@code null} if this is the last one
 */
public record DeadLetterPage(List<DeadLetter> letters, @Nullable String nextCursor) {

    public DeadLetterPage {
        letters = List.copyOf(letters);
    }

}
