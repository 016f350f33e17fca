package io.delayqueue;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * Describes the occurrence of a schedule that a handler handles. A listener method may
 * declare it as a parameter; it is {@code null} for messages that no schedule has sent.
 * <p>
 * The interval from {@code previous} to {@code nominalTime} has no gaps, even if
 * occurrences in between were skipped: a handler that processes what happened since the
 * previous occurrence misses nothing. <pre class="code">
 * &#64;DelayedListener("reports")
 * &#64;DelayedSchedule(name = "daily", cron = "0 0 6 * * *")
 * void report(ScheduledOccurrence occurrence) {
 *     reports.create(occurrence.previous(), occurrence.nominalTime());
 * }
 * </pre>
 *
 * @param name the name of the schedule
 * @param nominalTime the time for which it was scheduled, whenever it is handled; of a
 * triggered occurrence the time of the call
 * @param previous the nominal time of the last occurrence that was sent before;
 * {@code null} for the first one
 * @param next the following time of the schedule; {@code null} if there is none
 */
public record ScheduledOccurrence(String name, Instant nominalTime, @Nullable Instant previous,
        @Nullable Instant next) {

    /**
     * Returns the id of the message that a schedule sends for a nominal time, by which
     * that message can be found.
     */
    public static String messageId(String schedule, Instant nominalTime) {
        return MessageLimits.RESERVED_PREFIX + schedule + "@" + nominalTime.toEpochMilli();
    }

}
