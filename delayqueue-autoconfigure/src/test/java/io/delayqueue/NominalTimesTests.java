package io.delayqueue;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.scheduling.support.CronExpression;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class NominalTimesTests {

    private static final LocalDateTime START = LocalDateTime.of(2016, 1, 1, 0, 0);

    private static final LocalDateTime END = START.plusYears(10);

    /** All have times that are multiples of five minutes. */
    private static final Map<String, Predicate<LocalDateTime>> EXPRESSIONS = Map.of("0 30 2 * * *", at(2, 30),
            "0 0 3 * * *", at(3, 0), "0 0 0 * * *", at(0, 0), "0 45 1 * * *", at(1, 45), "0 0 * * * *",
            (time) -> time.getMinute() == 0, "0 */15 * * * *", (time) -> time.getMinute() % 15 == 0,
            "0 5 1,2,3 * * SUN",
            (time) -> time.getMinute() == 5 && time.getHour() >= 1 && time.getHour() <= 3
                    && time.getDayOfWeek().getValue() == 7,
            "0 0 2 L * *", (time) -> at(2, 0).test(time) && time.getMonth() != time.plusDays(1).getMonth());

    private static Predicate<LocalDateTime> at(int hour, int minute) {
        return (time) -> time.getHour() == hour && time.getMinute() == minute;
    }

    /** Their clocks change by an hour, by half an hour, and at midnight. */
    static Stream<Arguments> zonesAndExpressions() {
        return Stream.of("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo")
            .flatMap((zone) -> EXPRESSIONS.keySet().stream().map((cron) -> Arguments.of(zone, cron)));
    }

    private static List<Instant> times(String cron, ZoneId zone, LocalDateTime until) {
        NominalTimes times = new NominalTimes(cron, null, zone);
        Instant end = until.toInstant(ZoneOffset.UTC);
        List<Instant> all = new ArrayList<>();
        for (Instant next = times.after(START.toInstant(ZoneOffset.UTC).minusMillis(1)); next != null
                && next.isBefore(end); next = times.after(next)) {
            all.add(next);
        }
        return all;
    }

    /** A local time has none, one or two offsets: each is an occurrence. */
    @ParameterizedTest
    @MethodSource("zonesAndExpressions")
    @Tag("long")
    void areTheInstantsOfAllMatchingLocalTimesOverTenYears(String zone, String cron) {
        ZoneId id = ZoneId.of(zone);
        TreeSet<Instant> expected = new TreeSet<>();
        for (LocalDateTime time = START.minusDays(1); time.isBefore(END.plusDays(1)); time = time.plusMinutes(5)) {
            if (EXPRESSIONS.get(cron).test(time)) {
                LocalDateTime local = time;
                id.getRules().getValidOffsets(local).forEach((offset) -> expected.add(local.toInstant(offset)));
            }
        }

        assertThat(times(cron, id, END))
            .isEqualTo(List.copyOf(expected.subSet(START.toInstant(ZoneOffset.UTC), END.toInstant(ZoneOffset.UTC))));
    }

    /**
     * Two years, as Spring's computation is slow. It does not advance in
     * Australia/Lord_Howe.
     */
    @ParameterizedTest
    @ValueSource(strings = { "Europe/Berlin", "America/New_York", "America/Sao_Paulo", "Asia/Kathmandu" })
    @Tag("long")
    void areThoseOfSpringWhereClocksChangeByAnHour(String zone) {
        ZoneId id = ZoneId.of(zone);
        for (String cron : EXPRESSIONS.keySet()) {
            List<Instant> expected = new ArrayList<>();
            CronExpression expression = CronExpression.parse(cron);
            ZonedDateTime end = START.plusYears(2).toInstant(ZoneOffset.UTC).atZone(id);
            for (ZonedDateTime next = expression.next(START.toInstant(ZoneOffset.UTC).minusMillis(1).atZone(id)); next
                .isBefore(end); next = expression.next(next)) {
                expected.add(next.toInstant());
            }

            assertThat(times(cron, id, START.plusYears(2))).as(cron).isEqualTo(expected);
        }
    }

    @ParameterizedTest
    @CsvSource({ "0 30 2 * * *, 2026-03-28, '2026-03-28T01:30:00Z,2026-03-30T00:30:00Z'",
            "0 30 2 * * *, 2026-10-25, '2026-10-25T00:30:00Z,2026-10-25T01:30:00Z,2026-10-26T01:30:00Z'",
            "0 0 * * * *, 2026-03-29, '2026-03-28T23:00:00Z,2026-03-29T00:00:00Z,2026-03-29T01:00:00Z'",
            "0 0 3 * * *, 2026-03-29, '2026-03-29T01:00:00Z,2026-03-30T01:00:00Z'" })
    void whereClocksChangeAreSkippedOrDoubled(String cron, String from, String expected) {
        ZoneId zone = ZoneId.of("Europe/Berlin");
        Instant start = LocalDate.parse(from).atStartOfDay(zone).toInstant().minusMillis(1);
        List<Instant> instants = Stream.of(expected.split(",")).map(Instant::parse).toList();

        ScheduleDefinition definition = ScheduleDefinition.cron("s", cron).zone(zone).build();
        assertThat(definition.preview(start, instants.size())).isEqualTo(instants);
    }

    /** Without an end of the computation, this one does not end either. */
    @ParameterizedTest
    @CsvSource({ "0 30 2 * 3 SUNL, Europe/Berlin", "0 30 2 25-31 3 SUN, Europe/Berlin",
            "0 30 2 * 3 SUN#2, America/New_York" })
    void endIfEachLocalTimeIsSkippedByAChangeOfTheClocks(String cron, ZoneId zone) {
        Instant start = Instant.parse("2026-01-01T00:00:00Z");

        assertThat(ScheduleDefinition.cron("s", cron).zone(zone).build().nextAfter(start)).isEmpty();
        assertThat(ScheduleDefinition.cron("s", cron).build().nextAfter(start)).isPresent();
    }

    @ParameterizedTest
    @ValueSource(strings = { "0 0 0 30 2 *", "0 0 0 31 4,6,9,11 *" })
    void anExpressionThatNoDateMatchesIsRejected(String cron) {
        assertThatIllegalArgumentException().isThrownBy(() -> ScheduleDefinition.cron("s", cron))
            .withMessage("Cron expression '%s' is not valid: no date matches it; use '-' for a schedule without times",
                    cron);
    }

    @ParameterizedTest
    @ValueSource(strings = { "0 0 0 29 2 MON", "0 0 0 ? 2 SUN#5", "-" })
    void rareAndDisabledExpressionsAreValid(String cron) {
        assertThat(ScheduleDefinition.cron("s", cron).build().cron()).hasValue(cron);
    }

    @Test
    void ofAFixedRateDoNotDriftInAMillionOccurrences() {
        for (Duration rate : List.of(Duration.ofMillis(100), Duration.ofMillis(333), Duration.ofSeconds(1),
                Duration.ofMinutes(7), Duration.ofDays(1))) {
            NominalTimes times = new NominalTimes(null, rate, ZoneOffset.UTC);
            Instant next = times.after(Instant.EPOCH.minusMillis(1));
            for (int i = 0; i < 1_000_000 && next != null; i++) {
                if (next.toEpochMilli() != i * rate.toMillis()) {
                    assertThat(next).as("occurrence %d of every %s", i, rate)
                        .isEqualTo(Instant.EPOCH.plus(rate.multipliedBy(i)));
                }
                next = times.after(next);
            }
        }
    }

    /**
     * In November 2025 the first is a Saturday; in New York the clocks change on Sunday.
     */
    @ParameterizedTest
    @CsvSource({ "0 0 6 1W * *, America/New_York, 2025-10-01T10:00:00Z, '2025-11-03T11:00:00Z,2025-12-01T11:00:00Z'",
            "0 0 6 1W * *, UTC, 2025-11-01T12:00:00Z, '2025-11-03T06:00:00Z,2025-12-01T06:00:00Z'",
            "0 0 6 1W * *, UTC, 2025-11-01T23:59:59.999Z, '2025-11-03T06:00:00Z,2025-12-01T06:00:00Z'",
            "0 0 6 1W * *, UTC, 2025-11-02T12:00:00Z, '2025-11-03T06:00:00Z,2025-12-01T06:00:00Z'",
            "0 0 6 1W * *, UTC, 2025-11-03T06:00:00Z, '2025-12-01T06:00:00Z,2026-01-01T06:00:00Z'",
            "'0 0 6 1W,2 * *', UTC, 2025-11-02T05:00:00Z, '2025-11-02T06:00:00Z,2025-11-03T06:00:00Z'" })
    void includeTheWorkingDayNearestToTheFirst(String cron, String zone, Instant start, String expected) {
        List<Instant> instants = Stream.of(expected.split(",")).map(Instant::parse).toList();

        ScheduleDefinition definition = ScheduleDefinition.cron("s", cron).zone(ZoneId.of(zone)).build();
        assertThat(definition.preview(start, instants.size())).isEqualTo(instants);
    }

    /** For {@code L-30} in February, Spring finds a day of January again and again. */
    @ParameterizedTest
    @ValueSource(strings = { "0 0 6 L-28 * *", "0 0 6 L-30 * *", "0 0 6 L-31 * *", "0 0 6 1,L-30 * *" })
    void areNeverRepeated(String cron) {
        Instant start = Instant.parse("2026-12-31T00:00:00Z");

        List<Instant> times = ScheduleDefinition.cron("s", cron).build().preview(start, 30);

        assertThat(times).hasSize(30).isSorted().doesNotHaveDuplicates();
        assertThat(times.get(0)).isAfter(start);
    }

    @Test
    @Tag("long")
    void ofASecondlyExpressionDoNotDriftInAMillionOccurrences() {
        NominalTimes times = new NominalTimes("* * * * * *", null, ZoneId.of("Europe/Berlin"));
        Instant start = Instant.parse("2026-03-29T00:00:00Z");
        Instant next = start;
        for (int i = 1; i <= 1_000_000; i++) {
            next = Objects.requireNonNull(times.after(next));
        }
        assertThat(next).isEqualTo(start.plusSeconds(1_000_000));
    }

    @Test
    void ofAFixedRateAreMultiplesSinceTheEpoch() {
        ScheduleDefinition hourly = ScheduleDefinition.fixedRate("s", Duration.ofHours(1)).build();

        assertThat(hourly.nextAfter(Instant.parse("2026-11-22T09:59:59.999Z")))
            .hasValue(Instant.parse("2026-11-22T10:00:00Z"));
        assertThat(hourly.nextAfter(Instant.parse("2026-11-22T10:00:00Z")))
            .hasValue(Instant.parse("2026-11-22T11:00:00Z"));
    }

    @Test
    void mayEnd() {
        assertThat(ScheduleDefinition.cron("s", " - ").build().nextAfter(Instant.EPOCH)).isEmpty();
        assertThat(ScheduleDefinition.cron("s", "@yearly").build().nextAfter(Instant.MIN)).hasValue(Instant.EPOCH);
        assertThat(ScheduleDefinition.cron("s", "@yearly").build().nextAfter(Instant.MAX)).isEmpty();
        assertThat(ScheduleDefinition.cron("s", "@yearly").build().nextAfter(Instant.parse("2999-12-31T00:00:00Z")))
            .isEmpty();
        assertThat(ScheduleDefinition.fixedRate("s", Duration.ofDays(365)).build().nextAfter(MessageLimits.MAX_DUE_AT))
            .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = { "", "* * * * *", "0 0 25 * * *", "daily", "0 0 6 * * MON-FRI ?" })
    void areNotComputedFromAnInvalidExpression(String cron) {
        assertThatIllegalArgumentException().isThrownBy(() -> ScheduleDefinition.cron("s", cron))
            .withMessageStartingWith("Cron expression '%s' is not valid: use six fields".formatted(cron));
    }

    @Test
    void haveAShortestRate() {
        assertThatIllegalArgumentException().isThrownBy(() -> ScheduleDefinition.fixedRate("s", Duration.ofMillis(99)))
            .withMessage("Fixed rate 99 ms is not valid: use whole milliseconds, at least 100");
        assertThatIllegalArgumentException().isThrownBy(() -> ScheduleDefinition.fixedRate("s", Duration.ZERO));
        assertThatIllegalArgumentException()
            .isThrownBy(() -> ScheduleDefinition.fixedRate("s", Duration.ofSeconds(1).plusNanos(1)));
    }

}
