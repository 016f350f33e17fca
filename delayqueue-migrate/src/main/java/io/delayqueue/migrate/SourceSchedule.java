package io.delayqueue.migrate;

import java.time.ZoneId;
import java.util.Objects;

import io.delayqueue.MisfirePolicy;
import io.delayqueue.OverlapPolicy;
import io.delayqueue.ScheduleDefinition;

/**
 * Describes when a recurring entry of a source is sent. The entry becomes a schedule,
 * which begins with the due time of the entry.
 *
 * @param cron the expression, in the form of Spring
 * @param zone the time zone of the expression
 * @param misfire how occurrences are treated that were missed, also between the take and
 * the put
 * @param overlap how occurrences are treated while earlier ones are handled
 */
public record SourceSchedule(String cron, ZoneId zone, MisfirePolicy misfire, OverlapPolicy overlap) {

    public SourceSchedule {
        Objects.requireNonNull(zone, "A time zone is needed");
        Objects.requireNonNull(misfire, "A misfire policy is needed");
        Objects.requireNonNull(overlap, "An overlap policy is needed");
    }

    /**
     * Returns the builder of the schedule.
     * @throws IllegalArgumentException if the name or the expression is not valid
     */
    public ScheduleDefinition.Builder named(String name) {
        return ScheduleDefinition.cron(name, this.cron)
            .zone(this.zone)
            .misfire(this.misfire)
            .overlap(this.overlap)
            .catchUpLimit(ScheduleDefinition.MAX_CATCH_UP_LIMIT);
    }

}
