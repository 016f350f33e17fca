package io.delayqueue.migrate;

import java.time.Instant;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * Holds the counts of a queue of a source.
 *
 * @param waiting entries that can be taken
 * @param firstDue the earliest due time of those; {@code null} if none waits
 * @param lastDue the latest due time of those; {@code null} if none waits
 * @param taken entries that were taken by all runs so far
 * @param unsettled entries that were taken and are neither sent, dropped nor unreadable
 * @param sent entries that were sent
 * @param dropped entries that need not be moved
 * @param unreadable entries that were taken and cannot be moved as they are
 * @param counts further counts, see {@link MigrationSource#count}
 * @param left number of entries that stay in the source, by the reason, such as due
 * messages that its own consumers take
 */
public record SourceStatus(long waiting, @Nullable Instant firstDue, @Nullable Instant lastDue, long taken,
        long unsettled, long sent, long dropped, long unreadable, Map<String, Long> counts, Map<String, Long> left) {

    public SourceStatus {
        counts = Map.copyOf(counts);
        left = Map.copyOf(left);
    }

    /** Returns whether nothing waits, and every taken entry is accounted for. */
    public boolean isComplete() {
        return this.waiting == 0 && this.unsettled == 0 && isBalanced();
    }

    /** Returns whether the counts of taken entries agree. */
    public boolean isBalanced() {
        return this.taken == this.sent + this.dropped + this.unreadable + this.unsettled;
    }

}
