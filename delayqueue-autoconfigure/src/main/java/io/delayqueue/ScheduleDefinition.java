package io.delayqueue;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * Describes a schedule, which sends a message to a queue at each of its times. Immutable.
 * Validated when it is built, except for the payload, which is written as JSON when the
 * schedule is stored. <pre class="code">
 * delayQueue.schedules("reports").put(ScheduleDefinition.cron("customer-42", "0 0 6 * * MON-FRI")
 *     .zone(ZoneId.of("Europe/Berlin"))
 *     .payload(new Report(42))
 *     .build());
 * </pre>
 *
 * @see ScheduleOperations#put(ScheduleDefinition)
 * @see DelayedSchedule
 */
public final class ScheduleDefinition {

    /** Maximum length of a name. */
    public static final int MAX_NAME_LENGTH = 100;

    /** Shortest interval of a fixed rate. */
    public static final Duration MIN_RATE = Duration.ofMillis(100);

    /** Largest {@link #catchUpLimit()}. */
    public static final int MAX_CATCH_UP_LIMIT = 1_000;

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._:/+=-]{1," + MAX_NAME_LENGTH + "}");

    private final String name;

    private final NominalTimes times;

    private final Object payload;

    private final MisfirePolicy misfire;

    private final int catchUpLimit;

    private final OverlapPolicy overlap;

    private final @Nullable Duration timeToLive;

    private final Duration jitter;

    private final int priority;

    private ScheduleDefinition(Builder builder) {
        this.name = builder.name;
        this.times = builder.times();
        this.payload = builder.payload;
        this.misfire = builder.misfire;
        this.catchUpLimit = builder.catchUpLimit;
        this.overlap = builder.overlap;
        this.timeToLive = builder.timeToLive;
        this.jitter = builder.jitter;
        this.priority = builder.priority;
    }

    /**
     * Returns a builder for a schedule with a cron expression.
     * @param name see {@link #requireName}
     * @param expression six fields, from seconds to the day of the week, as
     * {@link org.springframework.scheduling.support.CronExpression} reads them, or a
     * macro such as {@code @daily}; {@code -} for a schedule without times
     * @throws IllegalArgumentException if one of them is not valid, or no date matches
     * the expression
     */
    public static Builder cron(String name, String expression) {
        return new Builder(requireName(name), NominalTimes.requireCron(expression), null);
    }

    /**
     * Returns a builder for a schedule with a fixed interval. Its times are the multiples
     * of the interval since the epoch: every hour means each full hour in UTC.
     * @param name see {@link #requireName}
     * @param interval whole milliseconds, 100 ms to {@link MessageLimits#MAX_DURATION}
     * @throws IllegalArgumentException if one of them is not valid
     */
    public static Builder fixedRate(String name, Duration interval) {
        return new Builder(requireName(name), null, NominalTimes.requireRate(interval));
    }

    /**
     * Checks the name of a schedule, which is unique in its queue.
     * @param name 1 to {@value #MAX_NAME_LENGTH} characters: letters, digits and
     * {@code . _ : / + = -}
     * @return {@code name}
     * @throws IllegalArgumentException if it does not match
     */
    public static String requireName(String name) {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException(
                    ("Schedule name '%s' is not valid: use 1 to %d characters of A-Z, a-z, 0-9, '.', '_', ':', '/', "
                            + "'+', '=' and '-'")
                        .formatted(MessageLimits.quotable(name), MAX_NAME_LENGTH));
        }
        return name;
    }

    /** Returns a builder that is initialized from this definition. */
    public Builder toBuilder() {
        Builder builder = new Builder(this.name, this.times.cron(), this.times.rate());
        builder.zone = this.times.zone();
        builder.payload = this.payload;
        builder.misfire = this.misfire;
        builder.catchUpLimit = this.catchUpLimit;
        builder.overlap = this.overlap;
        builder.timeToLive = this.timeToLive;
        builder.jitter = this.jitter;
        builder.priority = this.priority;
        return builder;
    }

    /** Returns the name, unique in the queue. */
    public String name() {
        return this.name;
    }

    /** Returns the cron expression; absent for a fixed rate. */
    public Optional<String> cron() {
        return Optional.ofNullable(this.times.cron());
    }

    /** Returns the interval; absent for a cron expression. */
    public Optional<Duration> fixedRate() {
        return Optional.ofNullable(this.times.rate());
    }

    /** Returns the time zone of the cron expression. */
    public ZoneId zone() {
        return this.times.zone();
    }

    /** Returns the payload of each occurrence. */
    public Object payload() {
        return this.payload;
    }

    /** Returns how missed occurrences are treated. */
    public MisfirePolicy misfire() {
        return this.misfire;
    }

    /** Returns how many occurrences are made up for, or held by the queue, at most. */
    public int catchUpLimit() {
        return this.catchUpLimit;
    }

    /** Returns how an occurrence is treated while the queue holds earlier ones. */
    public OverlapPolicy overlap() {
        return this.overlap;
    }

    /**
     * Returns how long after its nominal time, and its delay by the jitter, an occurrence
     * may still be handled; absent for no limit.
     */
    public Optional<Duration> timeToLive() {
        return Optional.ofNullable(this.timeToLive);
    }

    /** Returns by how much occurrences are delayed at random, at most. */
    public Duration jitter() {
        return this.jitter;
    }

    /** Returns the priority of occurrences. */
    public int priority() {
        return this.priority;
    }

    /**
     * Returns the first nominal time after an instant; empty if there is none. Does not
     * call the store, so a test of an expression needs none.
     */
    public Optional<Instant> nextAfter(Instant instant) {
        return Optional.ofNullable(this.times.after(instant));
    }

    /**
     * Returns the first nominal times after an instant, fewer if the schedule ends.
     * @param count 0 to 1,000
     */
    public List<Instant> preview(Instant after, int count) {
        requireBetween("Count", count, 0, 1_000);
        List<Instant> preview = new ArrayList<>();
        Instant next = this.times.after(after);
        while (next != null && preview.size() < count) {
            preview.add(next);
            next = this.times.after(next);
        }
        return preview;
    }

    /**
     * Returns whether another definition has the same nominal times, as far as is known
     * from its expression.
     */
    public boolean hasTimesOf(ScheduleDefinition other) {
        return this.times.equals(other.times);
    }

    private static int requireBetween(String what, int value, int least, int most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException("%s %d is not valid: use %d to %d".formatted(what, value, least, most));
        }
        return value;
    }

    /** Describes the schedule without its payload, which may be private. */
    @Override
    public String toString() {
        return "ScheduleDefinition[name=%s, times=%s]".formatted(this.name, this.times);
    }

    /** Builds a definition. Not thread-safe. */
    public static final class Builder {

        private final String name;

        private final @Nullable String cron;

        private final @Nullable Duration rate;

        private ZoneId zone = ZoneOffset.UTC;

        private Object payload = Map.of();

        private MisfirePolicy misfire = MisfirePolicy.ONCE;

        private int catchUpLimit = 100;

        private OverlapPolicy overlap = OverlapPolicy.ALLOW;

        private @Nullable Duration timeToLive;

        private Duration jitter = Duration.ZERO;

        private int priority = MessageLimits.NORMAL_PRIORITY;

        private Builder(String name, @Nullable String cron, @Nullable Duration rate) {
            this.name = name;
            this.cron = cron;
            this.rate = rate;
        }

        private NominalTimes times() {
            return new NominalTimes(this.cron, this.rate, this.zone);
        }

        /**
         * Sets the time zone of the cron expression; UTC by default. A local time that a
         * change of the clocks skips has no occurrence, and one that it repeats has two.
         * Has no effect on a fixed rate.
         */
        public Builder zone(ZoneId zone) {
            this.zone = Objects.requireNonNull(zone, "A time zone is needed");
            return this;
        }

        /**
         * Sets the payload of each occurrence, which is written as JSON once;
         * <code>{}</code> by default.
         */
        public Builder payload(Object payload) {
            this.payload = Objects.requireNonNull(payload, "A payload is needed");
            return this;
        }

        /**
         * Sets how missed occurrences are treated; {@link MisfirePolicy#ONCE} by default.
         */
        public Builder misfire(MisfirePolicy misfire) {
            this.misfire = Objects.requireNonNull(misfire);
            return this;
        }

        /**
         * Sets how many missed occurrences are made up for with
         * {@link MisfirePolicy#ALL}, and how many occurrences the queue may hold: one is
         * skipped while the queue holds the one that many before.
         * @param catchUpLimit 1 to {@value ScheduleDefinition#MAX_CATCH_UP_LIMIT}, 100 by
         * default
         */
        public Builder catchUpLimit(int catchUpLimit) {
            this.catchUpLimit = requireBetween("Catch-up limit", catchUpLimit, 1, MAX_CATCH_UP_LIMIT);
            return this;
        }

        /**
         * Sets how an occurrence is treated while the queue holds earlier ones;
         * {@link OverlapPolicy#ALLOW} by default.
         */
        public Builder overlap(OverlapPolicy overlap) {
            this.overlap = Objects.requireNonNull(overlap);
            return this;
        }

        /**
         * Sets how long after its nominal time, and its delay by the jitter, an
         * occurrence may still be handled.
         * @param timeToLive more than zero
         */
        public Builder timeToLive(Duration timeToLive) {
            this.timeToLive = MessageLimits.requirePositive("Time to live", timeToLive);
            return this;
        }

        /**
         * Sets by how much each occurrence is delayed at random, at most, so that many
         * schedules with one time do not start together; zero by default.
         * @param jitter zero to {@link MessageLimits#MAX_DURATION}
         */
        public Builder jitter(Duration jitter) {
            this.jitter = MessageLimits.requireNotNegative("Jitter", jitter);
            return this;
        }

        /**
         * Sets the priority of occurrences among the due messages of the queue.
         * @param priority {@value MessageLimits#MIN_PRIORITY} (last) to
         * {@value MessageLimits#MAX_PRIORITY} (first);
         * {@value MessageLimits#NORMAL_PRIORITY} by default
         */
        public Builder priority(int priority) {
            this.priority = MessageLimits.requirePriority(priority);
            return this;
        }

        /** Returns the definition. */
        public ScheduleDefinition build() {
            return new ScheduleDefinition(this);
        }

    }

}
