package io.delayqueue.journal;

import org.jspecify.annotations.Nullable;

/**
 * Holds the result of one step of a restore.
 *
 * @param report the counts of this step
 * @param nextCursor the cursor of the next step; {@code null} if this was the last one
 * @see JournalOperations
 */
public record RestoreStep(RestoreReport report, @Nullable String nextCursor) {
}
