package io.delayqueue.migrate.jdbc;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;

import io.delayqueue.ScheduleDefinition;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares the times of converted expressions with those of real versions of Quartz, from
 * many starts in ten years. {@code -Ddq.migrate.expressions=1500} compares more
 * expressions, and {@code -Ddq.seed} others.
 */
class QuartzCronTests {

    private static final int EXPRESSIONS = Integer.getInteger("dq.migrate.expressions", 150);

    private static final long SEED = Long.getLong("dq.seed", 42);

    private static final Instant START = Instant.parse("2024-01-01T00:00:00Z");

    private static final Instant END = Instant.parse("2034-01-01T00:00:00Z");

    /** Times of an expression that are compared from each start. */
    private static final int IN_A_ROW = 40;

    private static final int STARTS = 60;

    /** Without changes of the clocks, as far as the compared years are concerned. */
    private static final List<String> STEADY_ZONES = List.of("UTC", "Asia/Kolkata", "Asia/Tokyo", "America/Phoenix");

    private static final List<String> CHANGING_ZONES = List.of("Europe/Berlin", "America/New_York", "America/Havana",
            "Australia/Sydney");

    @Tag("long")
    @ParameterizedTest
    @ValueSource(strings = { "quartz-2.3", "quartz-2.4" })
    void aConvertedExpressionHasTheTimesOfQuartz(String version) throws Exception {
        compare(version, STEADY_ZONES);
    }

    @Tag("long")
    @ParameterizedTest
    @ValueSource(strings = { "quartz-2.3", "quartz-2.4" })
    void whereAnHourIsRepeatedQuartzHasTheTimesOfTheSecondOneOnly(String version) throws Exception {
        compare(version, CHANGING_ZONES);
    }

    /** Where the clocks are set forward by half an hour, Quartz leaves out times. */
    @ParameterizedTest
    @ValueSource(strings = { "quartz-2.3", "quartz-2.4" })
    void whereHalfAnHourIsSkippedQuartzLeavesOutTimesAfterIt(String version) throws Exception {
        ZoneId zone = ZoneId.of("Australia/Lord_Howe");
        Instant start = Instant.parse("2026-10-03T15:21:00Z"); // 01:51, nine minutes
                                                               // before
        QuartzCalculator.Expression expression = expression(new QuartzCalculator(version), "0 5,33,37 * 4 * ?", zone);

        assertThat(expression.after(start)).isEqualTo("2026-10-03T15:37:00Z");
        assertThat(schedule(QuartzCron.toSpring("0 5,33,37 * 4 * ?"), zone).nextAfter(start))
            .contains(Instant.parse("2026-10-03T15:33:00Z"));
    }

    private static void compare(String version, List<String> zones) throws Exception {
        QuartzCalculator quartz = new QuartzCalculator(version);
        QuartzExpressions expressions = new QuartzExpressions(SEED);
        Map<String, Integer> refused = new TreeMap<>();
        int compared = 0;
        for (int i = 0; i < EXPRESSIONS; i++) {
            String text = expressions.next();
            ZoneId zone = ZoneId.of(zones.get(i % zones.size()));
            String converted = converted(text, refused);
            if (converted != null) {
                compared++;
                compare(expression(quartz, text, zone), schedule(converted, zone), i,
                        "'%s' as '%s' in %s".formatted(text, converted, zone));
            }
        }
        System.out.printf("%s: %,d of %,d expressions compared in %s; refused: %s%n", version, compared, EXPRESSIONS,
                zones, refused);
        assertThat(compared).isGreaterThan(EXPRESSIONS / 3);
    }

    /** Begins as the migration does: with a time that Quartz has computed. */
    private static void compare(QuartzCalculator.Expression expression, ScheduleDefinition schedule, int number,
            String text) throws Exception {
        for (Instant start : starts(number)) {
            List<Instant> times = times(expression, start);
            if (!times.isEmpty()) {
                Instant first = times.get(0);
                List<Instant> expected = schedule.preview(first.minusNanos(1), 4 * IN_A_ROW)
                    .stream()
                    .filter((time) -> time.isBefore(END) && !isRepeatedLater(time, schedule.zone()))
                    .limit(times.size())
                    .toList();
                assertThat(times).as("%s from %s", text, first).isEqualTo(expected);
            }
        }
    }

    /** Returns whether the clocks are set back and show the same time once more. */
    private static boolean isRepeatedLater(Instant time, ZoneId zone) {
        List<ZoneOffset> offsets = zone.getRules().getValidOffsets(LocalDateTime.ofInstant(time, zone));
        return offsets.size() == 2 && offsets.get(0).equals(zone.getRules().getOffset(time));
    }

    private static ScheduleDefinition schedule(String expression, ZoneId zone) {
        return ScheduleDefinition.cron("name", expression).zone(zone).build();
    }

    private static QuartzCalculator.Expression expression(QuartzCalculator quartz, String text, ZoneId zone)
            throws Exception {
        QuartzCalculator.Expression expression = quartz.parse(text, zone);
        assertThat(expression).as("'%s' is converted, so Quartz accepts it", text).isNotNull();
        return Objects.requireNonNull(expression);
    }

    private static @Nullable String converted(String text, Map<String, Integer> refused) {
        try {
            return QuartzCron.toSpring(text);
        }
        catch (IllegalArgumentException ex) {
            refused.merge(String.valueOf(ex.getMessage()), 1, Integer::sum);
            return null;
        }
    }

    private static List<Instant> starts(int seed) {
        Random random = new Random(SEED + seed);
        List<Instant> starts = new ArrayList<>(List.of(START));
        for (int i = 1; i < STARTS; i++) {
            starts.add(START.plusSeconds((long) (random.nextDouble() * Duration.between(START, END).toSeconds())));
        }
        return starts;
    }

    private static List<Instant> times(QuartzCalculator.Expression expression, Instant start) throws Exception {
        List<Instant> times = new ArrayList<>();
        Instant time = expression.after(start);
        while (time != null && time.isBefore(END) && times.size() < IN_A_ROW) {
            times.add(time);
            time = expression.after(time);
        }
        return times;
    }

}
