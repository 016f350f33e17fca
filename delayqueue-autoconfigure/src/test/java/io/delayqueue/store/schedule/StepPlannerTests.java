package io.delayqueue.store.schedule;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

import io.delayqueue.MisfirePolicy;
import io.delayqueue.OverlapPolicy;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.ScheduleSkip;
import io.delayqueue.SkipReason;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.schedule.ScheduleState.Position;
import io.delayqueue.store.schedule.StepPlanner.Problems;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/** Verifies the decisions about due occurrences, each of which is sent or counted. */
class StepPlannerTests {

    private static final Duration HOUR = Duration.ofHours(1);

    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

    private static final EnvelopeCodec ENVELOPES = new EnvelopeCodec(JsonMapper.builder().build());

    private final DefinitionCodec codec = new DefinitionCodec(ENVELOPES);

    private final StepPlanner planner = new StepPlanner(this.codec, LocalSchedules.MISFIRE_THRESHOLD);

    private ScheduleState hourly(UnaryOperator<ScheduleDefinition.Builder> settings) {
        ScheduleDefinition definition = settings.apply(ScheduleDefinition.fixedRate("hourly", HOUR)).build();
        long first = START.toEpochMilli();
        return new ScheduleState(1, first, ScheduleState.NONE, first, 0, 0, false, "",
                this.codec.write(definition, "\"text\""));
    }

    private List<ScheduleStep> plan(ScheduleState state, Duration afterStart) {
        return this.planner.plan(Map.of("hourly", state), START.plus(afterStart), () -> 0.5, Problems.IGNORED);
    }

    private static Instant hour(int number) {
        return START.plus(HOUR.multipliedBy(number));
    }

    /** Applies steps as the store does, until nothing is due. */
    private Result run(ScheduleState state, Duration afterStart) {
        Result result = new Result(new ArrayList<>(), new ArrayList<>());
        ScheduleState current = state;
        for (List<ScheduleStep> steps = plan(current, afterStart); !steps.get(0).isPostponement(); steps = plan(current,
                afterStart)) {
            for (ScheduleStep step : steps) {
                assertThat(current.isExpected(step.generation(), step.next(), step.last())).isTrue();
                if (step.skip() != null) {
                    result.skips.add(step.skip());
                    current = current.skipped(step.to());
                }
                else {
                    result.sent.add(Instant.ofEpochMilli(step.next()));
                    current = current.sent(step.to());
                }
            }
        }
        return result;
    }

    private static ScheduleSkip skip(SkipReason reason, int first, int count) {
        return new ScheduleSkip(reason, hour(first), hour(first + count - 1), count);
    }

    @Test
    void nothingIsSentBeforeItsTime() {
        ScheduleState state = hourly((builder) -> builder);

        assertThat(plan(state, Duration.ofMillis(-1))).containsExactly(ScheduleStep.postpone("hourly", state));
    }

    @Test
    void anOccurrenceHasTheNominalTimeAndTheOnesBeforeAndAfterIt() {
        ScheduleState first = hourly((builder) -> builder.timeToLive(HOUR).priority(7));
        ScheduleState state = first.sent(new Position(hour(1).toEpochMilli(), START.toEpochMilli(), 1));

        assertThat(plan(state, HOUR.plusMillis(3))).singleElement().satisfies((step) -> {
            assertThat(step.to()).isEqualTo(new Position(hour(2).toEpochMilli(), START.toEpochMilli(), 2));
            assertThat(step.occurrence().message()).satisfies((message) -> {
                assertThat(message.id()).isEqualTo("@hourly@" + hour(1).toEpochMilli());
                assertThat(message.due().millis()).isEqualTo(hour(1).toEpochMilli());
                assertThat(message.due().relative()).isFalse();
                assertThat(message.priority()).isEqualTo(7);
                assertThat(message.timeToLive()).isEqualTo(HOUR);
                assertThat(message.group()).isNull();
                assertThat(EnvelopeCodec.text(ENVELOPES.read(message.envelope()))).isEqualTo("\"text\"");
                assertThat(OccurrenceIds.of(message.id(), ENVELOPES.read(message.envelope()).headers()))
                    .isEqualTo(new io.delayqueue.ScheduledOccurrence("hourly", hour(1), START, hour(2)));
            });
            assertThat(step.occurrence().validUntil()).isEqualTo(hour(1).plusSeconds(60).toEpochMilli());
        });
    }

    @Test
    void anOutageOfThreeDaysIsDecidedByThePolicy() {
        Duration outage = Duration.ofHours(71).plusMinutes(2);

        assertThat(run(hourly((builder) -> builder.misfire(MisfirePolicy.ONCE)), outage))
            .isEqualTo(new Result(List.of(hour(71)), List.of(skip(SkipReason.MISFIRE, 0, 71))));
        assertThat(run(hourly((builder) -> builder.misfire(MisfirePolicy.SKIP)), outage))
            .isEqualTo(new Result(List.of(), List.of(skip(SkipReason.MISFIRE, 0, 72))));
        assertThat(run(hourly((builder) -> builder.misfire(MisfirePolicy.ALL)), outage).sent()).hasSize(72)
            .isSorted()
            .doesNotHaveDuplicates();
        Result last = run(hourly((builder) -> builder.misfire(MisfirePolicy.ALL).catchUpLimit(10)), outage);
        assertThat(last.skips).containsExactly(skip(SkipReason.CATCH_UP_LIMIT, 0, 62));
        assertThat(last.sent).hasSize(10).startsWith(hour(62)).endsWith(hour(71));
    }

    @Test
    void anOccurrenceThatIsLateByLessIsSentWhateverThePolicy() {
        for (MisfirePolicy misfire : MisfirePolicy.values()) {
            assertThat(run(hourly((builder) -> builder.misfire(misfire)), Duration.ofSeconds(60)))
                .isEqualTo(new Result(List.of(START), List.of()));
        }
    }

    @Test
    void eachOccurrenceOfALongOutageIsCounted() {
        ScheduleDefinition definition = ScheduleDefinition.fixedRate("hourly", Duration.ofSeconds(1))
            .misfire(MisfirePolicy.ALL)
            .catchUpLimit(1_000)
            .build();
        long first = START.toEpochMilli();
        ScheduleState state = new ScheduleState(1, first, 0, first, 0, 0, false, "", this.codec.write(definition, "1"));

        Result result = run(state, Duration.ofDays(1));

        assertThat(result.sent).hasSize(1_000);
        assertThat(result.skips).allSatisfy((skip) -> assertThat(skip.count()).isLessThanOrEqualTo(1_000));
        assertThat(result.skips.stream().mapToLong(ScheduleSkip::count).sum()).isEqualTo(86_401 - 1_000);
    }

    @Test
    void occurrencesOfAPausedScheduleAreSkipped() {
        assertThat(run(hourly((builder) -> builder.misfire(MisfirePolicy.ALL)).paused(true), HOUR))
            .isEqualTo(new Result(List.of(), List.of(skip(SkipReason.PAUSED, 0, 2))));
    }

    @Test
    void anOccurrenceIsSkippedWhenItsTimeToLiveIsOver() {
        ScheduleState state = hourly(
                (builder) -> builder.misfire(MisfirePolicy.ALL).timeToLive(Duration.ofMinutes(90)));

        assertThat(run(state, HOUR.multipliedBy(3)))
            .isEqualTo(new Result(List.of(hour(2), hour(3)), List.of(skip(SkipReason.EXPIRED, 0, 2))));
        assertThat(plan(state, Duration.ofMinutes(89)).get(0).occurrence().validUntil())
            .isEqualTo(START.plus(Duration.ofMinutes(90)).toEpochMilli() - 1);
    }

    @Test
    void theIdThatMustNotBeHeldIsTheLastOneOrThatOfTheLimit() {
        ScheduleState state = hourly((builder) -> builder.overlap(OverlapPolicy.SKIP).catchUpLimit(2));
        List<String> last = new ArrayList<>();
        List<String> backlog = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            ScheduleStep step = plan(state, HOUR.multipliedBy(i)).get(0);
            last.add(step.occurrence().lastId());
            backlog.add(step.occurrence().backlogId());
            state = state.sent(step.to());
        }

        assertThat(last).containsExactly(null, OccurrenceIds.id("hourly", hour(0).toEpochMilli()),
                OccurrenceIds.id("hourly", hour(1).toEpochMilli()), OccurrenceIds.id("hourly", hour(2).toEpochMilli()));
        assertThat(backlog).containsExactly(null, null, OccurrenceIds.id("hourly", hour(0).toEpochMilli()),
                OccurrenceIds.id("hourly", hour(1).toEpochMilli()));
    }

    @Test
    void anotherCountBeginsWithTheFirstOccurrenceThatIsSentAfterABacklog() {
        ScheduleState state = hourly((builder) -> builder.catchUpLimit(2));
        ScheduleState backlogged = state
            .skipped(new Position(hour(3).toEpochMilli(), hour(0).toEpochMilli(), ScheduleState.BACKLOGGED));

        ScheduleStep step = plan(backlogged, HOUR.multipliedBy(3)).get(0);

        assertThat(step.occurrence().backlogId()).isEqualTo(OccurrenceIds.id("hourly", hour(0).toEpochMilli()));
        assertThat(step.to()).isEqualTo(new Position(hour(4).toEpochMilli(), hour(3).toEpochMilli(), 1));
        assertThat(plan(backlogged.paused(true), HOUR.multipliedBy(3)).get(0).to())
            .isEqualTo(new Position(hour(4).toEpochMilli(), hour(0).toEpochMilli(), ScheduleState.BACKLOGGED));
    }

    @Test
    void occurrencesAreAGroupIfTheyQueue() {
        ScheduleState state = hourly((builder) -> builder.overlap(OverlapPolicy.QUEUE));

        assertThat(plan(state, Duration.ZERO).get(0).occurrence().message().group()).isEqualTo("@hourly");
    }

    @Test
    void jitterDelaysAnOccurrenceAndNotTheChain() {
        ScheduleState state = hourly((builder) -> builder.jitter(Duration.ofMinutes(10)));

        ScheduleStep step = this.planner.plan(Map.of("hourly", state), START, () -> 1, Problems.IGNORED).get(0);

        assertThat(step.occurrence().message().due().millis())
            .isEqualTo(START.plus(Duration.ofMinutes(10)).toEpochMilli());
        assertThat(step.occurrence().message().id()).isEqualTo("@hourly@" + START.toEpochMilli());
        assertThat(step.to().next()).isEqualTo(hour(1).toEpochMilli());
    }

    @Test
    void aScheduleThatIsNotReadableIsPostponedAndDoesNotStopOthers() {
        ScheduleState good = hourly((builder) -> builder);
        Map<String, ScheduleState> due = new LinkedHashMap<>(Map.of("state", ScheduleState.UNREADABLE));
        for (String definition : List.of("", "{\"cron\":1}\n1", "{\"fixedRate\":1e300}\n1",
                "{\"cron\":\"@daily\",\"zone\":\"Mars/Utopia\"}\n1", "{\"cron\":\"@daily\",\"misfire\":\"NEW\"}\n1")) {
            due.put("bad" + due.size(), new ScheduleState(1, good.next(), 0, good.next(), 0, 0, false, "", definition));
        }
        List<String> problems = new ArrayList<>();
        due.put("hourly", good);

        List<ScheduleStep> steps = this.planner.plan(due, START, () -> 0.5, (name, state, cause) -> problems.add(name));

        assertThat(problems).hasSize(6).doesNotContain("hourly");
        assertThat(steps).hasSize(7)
            .allSatisfy((step) -> assertThat(step.isPostponement()).isEqualTo(problems.contains(step.name())));
    }

    @Test
    void aCallComputesABoundedNumberOfTimes() {
        String definition = this.codec.write(ScheduleDefinition.cron("c", "* * * * * *").build(), "1");
        long first = START.toEpochMilli();
        Map<String, ScheduleState> due = new LinkedHashMap<>();
        for (int i = 0; i < 100; i++) {
            due.put("c" + i, new ScheduleState(1, first, 0, first, 0, 0, false, "", definition));
        }

        List<ScheduleStep> steps = this.planner.plan(due, START.plus(Duration.ofDays(1)), () -> 0.5, Problems.IGNORED);

        assertThat(steps.stream().mapToLong((step) -> step.skip().count()).sum()).isBetween(
                (long) OccurrenceDecider.MAX_PASSED, StepPlanner.MAX_COMPUTED + (long) OccurrenceDecider.MAX_PASSED);
    }

    /** They would be missed too, although nodes fire. */
    @Test
    void aScheduleThatWasMissedForLongDoesNotDelayOthers() {
        String definition = this.codec.write(ScheduleDefinition.cron("c", "* * * * * *").build(), "1");
        long missed = START.minus(Duration.ofDays(30)).toEpochMilli();
        Map<String, ScheduleState> due = new LinkedHashMap<>();
        for (int i = 0; i < 50; i++) {
            due.put("c" + i, new ScheduleState(1, missed, 0, missed, 0, 0, false, "", definition));
        }
        due.put("hourly", hourly((builder) -> builder));

        List<ScheduleStep> steps = this.planner.plan(due, START, () -> 0.5, Problems.IGNORED);

        assertThat(steps).filteredOn((step) -> step.name().equals("hourly"))
            .singleElement()
            .satisfies((step) -> assertThat(step.occurrence()).isNotNull());
        assertThat(steps).extracting(ScheduleStep::name).containsAll(due.keySet());
    }

    /** The time to live of a message begins with its due time. */
    @Test
    void anOccurrenceExpiresItsTimeToLiveAfterItsJitter() {
        ScheduleState state = hourly(
                (builder) -> builder.timeToLive(Duration.ofSeconds(10)).jitter(Duration.ofMinutes(10)));

        List<ScheduleStep> late = this.planner.plan(Map.of("hourly", state), START.plusSeconds(20), () -> 1,
                Problems.IGNORED);
        List<ScheduleStep> expired = this.planner.plan(Map.of("hourly", state), START.plusSeconds(20), () -> 0.5,
                Problems.IGNORED);

        assertThat(late).singleElement()
            .satisfies((step) -> assertThat(step.occurrence().message().due().millis())
                .isEqualTo(START.plus(Duration.ofMinutes(10)).toEpochMilli()));
        assertThat(expired).singleElement()
            .satisfies((step) -> assertThat(step.skip().reason()).isEqualTo(SkipReason.EXPIRED));
    }

    @Test
    void aDefinitionIsReadAsItWasWritten() {
        ScheduleDefinition definition = ScheduleDefinition.cron("daily", "0 0 6 * * *")
            .zone(java.time.ZoneId.of("Europe/Berlin"))
            .payload(Map.of("number", 42))
            .misfire(MisfirePolicy.ALL)
            .catchUpLimit(7)
            .overlap(OverlapPolicy.QUEUE)
            .timeToLive(HOUR)
            .jitter(Duration.ofSeconds(5))
            .priority(8)
            .build();

        String stored = this.codec.write(definition, "{\"number\":42}");

        assertThat(this.codec.read("daily", stored)).usingRecursiveComparison().isEqualTo(definition);
        assertThat(DefinitionCodec.payload(stored)).isEqualTo("{\"number\":42}");
        assertThat(this.codec.write(this.codec.read("daily", stored), DefinitionCodec.payload(stored)))
            .isEqualTo(stored);
    }

    private record Result(List<Instant> sent, List<ScheduleSkip> skips) {
    }

}
