package io.delayqueue;

import java.time.Instant;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * Describes a schedule and its progress at one moment.
 *
 * @param queue the queue to which it sends
 * @param definition its definition, with the payload as JSON
 * @param payload the payload, as JSON
 * @param owner the application that declares it, {@code ?} for one without a name;
 * {@code null} if it was put by a call
 * @param paused whether it skips its occurrences
 * @param nextAt the nominal time of the next occurrence; {@code null} if there is none
 * @param lastAt the nominal time of the last occurrence that was sent; {@code null} if
 * none was
 * @param sent how many occurrences were sent
 * @param skipped how many occurrences were skipped, for each reason that has occurred
 * @param skips the last {@value #MAX_SKIPS} skips, the latest first
 * @see ScheduleOperations#find
 */
public record ScheduleStatus(String queue, ScheduleDefinition definition, String payload, @Nullable String owner,
        boolean paused, @Nullable Instant nextAt, @Nullable Instant lastAt, long sent, Map<SkipReason, Long> skipped,
        List<ScheduleSkip> skips) {

    /** Maximum number of recorded skips. */
    public static final int MAX_SKIPS = 20;

    public ScheduleStatus {
        skipped = Map.copyOf(skipped);
        skips = List.copyOf(skips);
    }

    /** Returns the name, unique in the queue. */
    public String name() {
        return this.definition.name();
    }

    /** Describes the schedule without its payload, which may be private. */
    @Override
    public String toString() {
        return "ScheduleStatus[queue=%s, name=%s, nextAt=%s, paused=%s]".formatted(this.queue, name(), this.nextAt,
                this.paused);
    }

}
