package io.delayqueue;

import java.time.Instant;

/**
 * Records consecutive occurrences of a schedule that were skipped for one reason.
 *
 * @param reason why they were skipped
 * @param first the nominal time of the first one
 * @param last the nominal time of the last one
 * @param count how many they are, at least 1
 * @see ScheduleOperations
 */
public record ScheduleSkip(SkipReason reason, Instant first, Instant last, long count) {

    public ScheduleSkip {
        if (count < 1 || last.isBefore(first)) {
            throw new IllegalArgumentException(
                    "A skip of %d occurrences from %s to %s is not valid: use at least one, and an end that is not before the start"
                        .formatted(count, first, last));
        }
    }

}
