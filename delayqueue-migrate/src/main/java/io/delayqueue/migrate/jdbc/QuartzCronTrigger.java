package io.delayqueue.migrate.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.TimeZone;

import io.delayqueue.MisfirePolicy;
import io.delayqueue.OverlapPolicy;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.migrate.SourceEntry;
import io.delayqueue.migrate.SourceSchedule;
import org.jspecify.annotations.Nullable;

/**
 * Holds a cron trigger of Quartz.
 *
 * @param trigger what each trigger has
 * @param expression the expression, in the form of Quartz
 * @param zone the name of the time zone; {@code null} if the row has none
 * @param misfire the misfire instruction
 * @param start from when on it fires, in ms
 * @param end until when it fires, in ms; 0 for ever
 * @param exclusive whether runs of the job must not overlap
 * @param changing whether a run of the job changes its data
 */
record QuartzCronTrigger(QuartzTrigger trigger, String expression, @Nullable String zone, int misfire, long start,
        long end, boolean exclusive, boolean changing) {

    /** Begins a query whose rows {@link #read} reads. */
    static final String COLUMNS = QuartzTrigger.COLUMNS + ", c.CRON_EXPRESSION, c.TIME_ZONE_ID, t.MISFIRE_INSTR, "
            + "t.START_TIME, t.END_TIME, j.IS_NONCONCURRENT, j.IS_UPDATE_DATA ";

    private static final int DO_NOTHING = 2;

    private static final int IGNORE_MISFIRES = -1;

    static QuartzCronTrigger read(ResultSet row) throws SQLException {
        return new QuartzCronTrigger(QuartzTrigger.read(row), row.getString(9), row.getString(10), row.getInt(11),
                row.getLong(12), row.getLong(13), row.getBoolean(14), row.getBoolean(15));
    }

    /**
     * Returns why the trigger stays in Quartz; {@code null} if it becomes a schedule.
     * @param now the time in ms
     */
    @Nullable String reasonToStay(long now) {
        if (this.start > now) {
            return "cron, with a start in the future";
        }
        if (this.end > 0) {
            return "cron, with an end";
        }
        if (this.changing) {
            return "cron, of a job that changes its data";
        }
        if (this.zone == null || !isKnown(this.zone)) {
            return "cron, in a time zone that is not known";
        }
        return reasonOfTimes();
    }

    private @Nullable String reasonOfTimes() {
        SourceSchedule schedule;
        try {
            schedule = schedule();
        }
        catch (IllegalArgumentException ex) {
            return "cron, not expressed by a schedule: " + ex.getMessage();
        }
        ScheduleDefinition definition;
        try {
            definition = schedule.named(this.trigger.businessId()).build();
        }
        catch (IllegalArgumentException ex) {
            return "cron, with a name that no schedule may have";
        }
        Instant next = Instant.ofEpochMilli(this.trigger.due());
        return definition.nextAfter(next.minusNanos(1)).filter(next::equals).isPresent() ? null
                : "cron, due at another time than those of its expression: Quartz fires it first";
    }

    /** Java returns GMT for names that it does not know, and Quartz uses it. */
    private static boolean isKnown(String zone) {
        return TimeZone.getTimeZone(zone).getID().equals(zone);
    }

    /**
     * Returns the schedule.
     * @throws IllegalArgumentException if there is none with the same times
     */
    private SourceSchedule schedule() {
        MisfirePolicy policy = switch (this.misfire) {
            case DO_NOTHING -> MisfirePolicy.SKIP;
            case IGNORE_MISFIRES -> MisfirePolicy.ALL;
            default -> MisfirePolicy.ONCE;
        };
        return new SourceSchedule(QuartzCron.toSpring(this.expression), TimeZone.getTimeZone(this.zone).toZoneId(),
                policy, this.exclusive ? OverlapPolicy.QUEUE : OverlapPolicy.ALLOW);
    }

    /** Returns the entry of a trigger that becomes a schedule. */
    SourceEntry entry(String id) {
        return this.trigger.entry(id).withSchedule(schedule());
    }

}
