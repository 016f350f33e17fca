package io.delayqueue;

import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.support.CronExpression;

/**
 * Computes the nominal times of a schedule, which lie between the epoch and
 * {@link MessageLimits#MAX_DUE_AT}. A time of a cron expression is an instant whose local
 * time in the zone matches the expression; a time of a fixed rate is a multiple of the
 * rate since the epoch. Immutable.
 */
final class NominalTimes {

    private static final int MAX_CRON_LENGTH = 1000;

    /** The maximum number of days until another month begins. */
    private static final int MAX_DAYS = 31;

    private final @Nullable String cron;

    private final @Nullable Duration rate;

    private final ZoneId zone;

    /** {@code null} for a fixed rate, and for a schedule without times. */
    private final @Nullable CronExpression expression;

    /** Exactly one of {@code cron} and {@code rate} is not {@code null}. */
    NominalTimes(@Nullable String cron, @Nullable Duration rate, ZoneId zone) {
        this.cron = cron;
        this.rate = rate;
        this.zone = zone;
        this.expression = (cron == null || cron.equals(Scheduled.CRON_DISABLED)) ? null : CronExpression.parse(cron);
    }

    static String requireCron(String cron) {
        String trimmed = cron.trim();
        if (trimmed.length() > MAX_CRON_LENGTH) {
            throw new IllegalArgumentException(
                    "Cron expression '%s' is not valid: it has %d characters, and at most %d are possible"
                        .formatted(MessageLimits.quotable(trimmed), trimmed.length(), MAX_CRON_LENGTH));
        }
        NominalTimes times;
        try {
            times = new NominalTimes(trimmed, null, ZoneOffset.UTC);
        }
        catch (IllegalArgumentException ex) {
            throw new IllegalArgumentException(
                    ("Cron expression '%s' is not valid: use six fields such as '0 0 6 * * MON-FRI', a macro such as "
                            + "@daily, or '-' for none (%s)")
                        .formatted(MessageLimits.quotable(trimmed), ex.getMessage()),
                    ex);
        }
        if (times.expression != null && times.after(Instant.EPOCH) == null) {
            throw new IllegalArgumentException(
                    "Cron expression '%s' is not valid: no date matches it; use '-' for a schedule without times"
                        .formatted(MessageLimits.quotable(trimmed)));
        }
        return trimmed;
    }

    static Duration requireRate(Duration rate) {
        MessageLimits.requirePositive("Fixed rate", rate);
        if (rate.compareTo(ScheduleDefinition.MIN_RATE) < 0 || rate.getNano() % 1_000_000 != 0) {
            throw new IllegalArgumentException("Fixed rate %s is not valid: use whole milliseconds, at least %d"
                .formatted(MessageLimits.describe(rate), ScheduleDefinition.MIN_RATE.toMillis()));
        }
        return rate;
    }

    @Nullable String cron() {
        return this.cron;
    }

    @Nullable Duration rate() {
        return this.rate;
    }

    ZoneId zone() {
        return this.zone;
    }

    /** Returns the first time after an instant; {@code null} if there is none. */
    @Nullable Instant after(Instant instant) {
        Instant from = instant.isBefore(Instant.EPOCH) ? Instant.EPOCH.minusMillis(1) : instant;
        if (!from.isBefore(MessageLimits.MAX_DUE_AT)) {
            return null;
        }
        Instant next = null;
        if (this.rate != null) {
            long interval = this.rate.toMillis();
            next = Instant.ofEpochMilli((Math.floorDiv(from.toEpochMilli(), interval) + 1) * interval);
        }
        else if (this.expression != null) {
            next = after(this.expression, from);
        }
        return (next != null && next.isBefore(MessageLimits.MAX_DUE_AT)) ? next : null;
    }

    /**
     * Computes with local times, from one change of the offset to the next. A
     * {@code ZonedDateTime} would not advance where a change is not a whole hour. The
     * changes have no end, and all times of an expression may be skipped by one.
     */
    private @Nullable Instant after(CronExpression expression, Instant instant) {
        ZoneRules rules = this.zone.getRules();
        ZoneOffset offset = rules.getOffset(instant);
        LocalDateTime from = LocalDateTime.ofInstant(instant, offset);
        ZoneOffsetTransition change = rules.nextTransition(instant);
        LocalDateTime local = next(expression, from);
        while (local != null && change != null && change.getInstant().isBefore(MessageLimits.MAX_DUE_AT)
                && !local.toInstant(offset).isBefore(change.getInstant())) {
            offset = change.getOffsetAfter();
            from = change.getDateTimeAfter().minusNanos(1);
            change = rules.nextTransition(change.getInstant());
            local = next(expression, from);
        }
        return (local != null) ? local.toInstant(offset) : null;
    }

    /**
     * Returns the first time after another. Spring does not find the Monday of {@code 1W}
     * from the Sunday on which the month has its second day.
     */
    private static @Nullable LocalDateTime next(CronExpression expression, LocalDateTime from) {
        LocalDateTime next = later(expression, from);
        LocalDate day = from.plusNanos(1).toLocalDate();
        if (day.getDayOfMonth() == 2 && day.getDayOfWeek() == DayOfWeek.SUNDAY) {
            LocalDateTime behind = later(expression, day.atTime(LocalTime.MAX));
            return (next == null || behind != null && behind.isBefore(next)) ? behind : next;
        }
        return next;
    }

    /**
     * Returns the time that Spring finds, but only a later one. A day such as
     * {@code L-30} lies in the month before if its own is shorter: Spring returns that
     * one again, whose occurrence would be sent without an end.
     */
    private static @Nullable LocalDateTime later(CronExpression expression, LocalDateTime from) {
        LocalDateTime next = expression.next(from);
        LocalDate day = from.toLocalDate();
        for (int i = 0; i < MAX_DAYS && next != null && !next.isAfter(from); i++) {
            next = expression.next(day.atTime(LocalTime.MAX));
            day = day.plusDays(1);
        }
        return (next != null && next.isAfter(from)) ? next : null;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof NominalTimes times && Objects.equals(this.cron, times.cron)
                && Objects.equals(this.rate, times.rate) && (this.rate != null || this.zone.equals(times.zone));
    }

    @Override
    public int hashCode() {
        return Objects.hash(this.cron, this.rate);
    }

    @Override
    public String toString() {
        return (this.rate != null) ? "every " + MessageLimits.describe(this.rate)
                : "'%s' in %s".formatted(this.cron, this.zone);
    }

}
