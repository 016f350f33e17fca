package io.delayqueue.store;

import java.util.List;

import io.delayqueue.admin.DeadLetterSummary;
import org.jspecify.annotations.Nullable;

/**
 * Holds a page of dead letters with the first lines of their causes, the latest first.
 *
 * @param deadLetters the dead letters of the page
 * @param nextCursor where the next page begins; {@code null} if this is the last one
 */
public record DeadLetterSummaryPage(List<SummaryWithCause> deadLetters, @Nullable String nextCursor) {

    /**
     * Holds a dead letter, and the beginning of its cause.
     *
     * @param deadLetter the dead letter
     * @param cause the first line of its cause, at least as much of it as
     * {@link io.delayqueue.CauseGroup#MAX_LENGTH}
     */
    public record SummaryWithCause(DeadLetterSummary deadLetter, String cause) {
    }

}
