package io.delayqueue.benchmarks.runner.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.delayqueue.benchmarks.runner.measure.Measure;
import io.delayqueue.benchmarks.runner.measure.Measures;
import io.delayqueue.benchmarks.runner.result.Cell;
import io.delayqueue.benchmarks.runner.result.Conditions;
import io.delayqueue.benchmarks.runner.result.Delivery;
import io.delayqueue.benchmarks.runner.result.Figure;
import io.delayqueue.benchmarks.runner.result.Result;
import io.delayqueue.benchmarks.runner.result.Source;
import io.delayqueue.benchmarks.runner.result.Turn;
import io.delayqueue.benchmarks.runner.result.Weather;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks that the median and the worse quartile of five quiet rounds decide about a goal,
 * and that an unmeasured goal is never met.
 */
class GoalTests {

    private static final Goal RATE = Goal.atLeast(0.4, "drain", "100 B", "limit");

    private static final List<String> CONTENDERS = List.of("delayqueue", "delayqueue-metered", "delayqueue-outbox",
            "delayqueue-ledger", "limit", "limit-leased", "redisson", "redisson-tuned", "rqueue-tuned", "timer-ms",
            "namastack", "namastack-tuned", "sql");

    /** Those of the goals of figures that need time, and one of each count. */
    private static final List<String> SCENARIOS = List.of("1 thread, 100 B", "16 threads, 100 B", "100 B", "20/s",
            "1,000/s", "5,000/s", "10,000,000 pending, 1,000/s for 600 s", "send, 10,000 pending",
            "send, 10,000,000 pending", "100 B, 10,000 pending", "find, 10,000 pending", "find, 10,000,000 pending",
            "100,000 in one queue", "1 queue, 1 node", "10 nodes, 1/s", "20,000 messages", "H2", "H2, 4/s",
            "drain, 100 B");

    private final List<Turn> turns = new ArrayList<>();

    private void measured(String contender, double... perSecond) {
        for (int i = 0; i < perSecond.length; i++) {
            measured(contender, i + 1, Map.of(Figure.PER_SECOND.name(), perSecond[i]), 0, 0);
        }
    }

    private void measured(String contender, int round, Map<String, Double> figures, double steal, long early) {
        measured(contender, round, figures, new Weather(steal, 0.0, 0, 0, "2026-01-01T00:00:00Z"), early);
    }

    private void measured(String contender, int round, Map<String, Double> figures, Weather weather, long early) {
        Cell cell = new Cell(contender, "100 B", 100, round, figures, new Delivery(10, 0, 0, 0, early, 0, early),
                weather, List.of());
        this.turns.add(new Turn(contender, round, new Source("c", false, "", "", ""), "2026-01-01T00:00:00Z", 1,
                List.of(cell)));
    }

    private Outcome outcome(Goal goal) {
        Conditions conditions = new Conditions("full", 3, "7", "PATH", "17", List.of(), "m", 1);
        return goal.evaluate((name) -> name.equals("drain") ? Optional.of(new Result(name, conditions, this.turns))
                : Optional.empty());
    }

    @Test
    void aQuotientIsTakenRoundByRound() {
        measured("delayqueue", 50, 410, 42, 43, 41);
        measured("limit", 100, 1000, 100, 100, 100);

        assertThat(outcome(RATE)).isEqualTo(new Outcome(Outcome.Status.MET, "0.42 (0.41–0.50)×"));
        assertThat(outcome(Goal.atLeast(0.43, "drain", "100 B", "limit")).status()).isEqualTo(Outcome.Status.NOT_MET);
        assertThat(outcome(Goal.atMost(0.41, "drain", "100 B", Figure.PER_SECOND, "limit")).status())
            .isEqualTo(Outcome.Status.NOT_MET);
    }

    @Test
    void theWorseQuartileMustBeNearTheBound() {
        measured("delayqueue", 37, 37, 40, 42, 42);
        measured("limit", 100, 100, 100, 100, 100);

        assertThat(outcome(RATE).status()).isEqualTo(Outcome.Status.NOT_MET);
        assertThat(outcome(Goal.atMost(0.4, "drain", "100 B", Figure.PER_SECOND, "limit")).status())
            .isEqualTo(Outcome.Status.MET);
    }

    @Test
    void cpuDecidesWhereRatesAreNoisy() {
        for (int round = 1; round <= 5; round++) {
            measured("delayqueue", round,
                    Map.of(Figure.PER_SECOND.name(), 20.0 * round, Figure.CPU_MICROS.name(), 20.0), 0, 0);
            measured("limit", round, Map.of(Figure.PER_SECOND.name(), 100.0, Figure.CPU_MICROS.name(), 10.0), 0, 0);
        }

        assertThat(outcome(RATE))
            .isEqualTo(new Outcome(Outcome.Status.MET, "0.50 (0.50–0.50)×, by CPU; rates 0.60 (0.20–1)×"));
        assertThat(outcome(Goal.atLeast(0.6, "drain", "100 B", "limit")).status()).isEqualTo(Outcome.Status.NOT_MET);
    }

    @Test
    void aDifferenceIsTakenRoundByRound() {
        measured("delayqueue", 1.5, 2.5, 3.5, 4.5, 5.5);
        measured("timer-ms", 1, 2, 3, 4, 5);

        assertThat(outcome(Goal.above(0.5, "drain", "100 B", Figure.PER_SECOND, "timer-ms")).status())
            .isEqualTo(Outcome.Status.MET);
        assertThat(outcome(Goal.above(0.4, "drain", "100 B", Figure.PER_SECOND, "timer-ms")).status())
            .isEqualTo(Outcome.Status.NOT_MET);
    }

    @Test
    void aRoundWithoutTheOtherDoesNotCount() {
        measured("delayqueue", 50);
        measured("limit", 2, Map.of(Figure.PER_SECOND.name(), 100.0), 0, 0);

        assertThat(outcome(RATE)).isEqualTo(Outcome.NOT_MEASURED);
    }

    @Test
    void fewerThanFiveRoundsDecideNothing() {
        measured("delayqueue", 50, 50, 50, 50);
        measured("limit", 100, 100, 100, 100);

        assertThat(outcome(RATE))
            .isEqualTo(new Outcome(Outcome.Status.NOT_MEASURED, "0.50 (0.50–0.50)× in 4 of 5 quiet rounds"));
        assertThat(outcome(Goal.countAtMost(0.5, "drain", "100 B", Figure.PER_SECOND, "limit")).status())
            .isEqualTo(Outcome.Status.MET);
    }

    @Test
    void roundsWithStealDoNotCount() {
        measured("delayqueue", 9, 9, 9, 9);
        measured("delayqueue", 5, Map.of(Figure.PER_SECOND.name(), 9.0), 2, 0);

        assertThat(outcome(Goal.atMost(9, "drain", "100 B", Figure.PER_SECOND)).status())
            .isEqualTo(Outcome.Status.NOT_MEASURED);

        measured("delayqueue", 6, Map.of(Figure.PER_SECOND.name(), 9.0), 1.9, 0);

        assertThat(outcome(Goal.atMost(9, "drain", "100 B", Figure.PER_SECOND)).status()).isEqualTo(Outcome.Status.MET);
        assertThat(outcome(Goal.atMost(8, "drain", "100 B", Figure.PER_SECOND)).status())
            .isEqualTo(Outcome.Status.NOT_MET);
    }

    @Test
    void roundsBesideOtherProcessesDoNotCount() {
        Goal goal = Goal.atMost(9, "drain", "100 B", Figure.PER_SECOND);
        measured("delayqueue", 9, 9, 9, 9);
        measured("delayqueue", 5, Map.of(Figure.PER_SECOND.name(), 9.0), new Weather(0, 5.0, 0, 0, ""), 0);
        measured("delayqueue", 6, Map.of(Figure.PER_SECOND.name(), 9.0), new Weather(0, null, 0, 0, ""), 0);

        assertThat(outcome(goal).status()).isEqualTo(Outcome.Status.NOT_MEASURED);

        measured("delayqueue", 7, Map.of(Figure.PER_SECOND.name(), 9.0), new Weather(0, 4.9, 0, 0, ""), 0);

        assertThat(outcome(goal).status()).isEqualTo(Outcome.Status.MET);
    }

    @Test
    void oneEarlyMessageInOneRoundIsOneTooMany() {
        measured("delayqueue", 1);
        measured("limit", 1, Map.of(), 0, 7);
        assertThat(outcome(Goal.none("drain", "", "early", Delivery::early)).status()).isEqualTo(Outcome.Status.MET);

        measured("delayqueue", 2, Map.of(), 0, 1);
        assertThat(outcome(Goal.none("drain", "", "early", Delivery::early)))
            .isEqualTo(new Outcome(Outcome.Status.NOT_MET, "1"));
        assertThat(outcome(Goal.none("drain", "1 KiB", "early", Delivery::early))).isEqualTo(Outcome.NOT_MEASURED);
    }

    /**
     * A goal that depends on time needs five quiet rounds; only counts, and runs that are
     * too long, need one.
     */
    @Test
    void oneRoundDecidesOnlyAboutCounts() {
        assertThat(decidedByOneRound(0.0)).isEqualTo(decidedByOneRound(50.0))
            .containsExactlyInAnyOrder("backlog", "crash", "idle", "memory", "tenMillion", "tenNodes");
    }

    /**
     * Returns the measures with a goal of figures that one round of each cell decides.
     */
    private static Set<String> decidedByOneRound(double otherPercent) {
        Map<String, Double> figures = Stream.of(Figure.values())
            .collect(Collectors.toMap(Figure::name, (figure) -> 1.0));
        Weather weather = new Weather(0, otherPercent, 0, 0, "");
        Set<String> decided = new TreeSet<>();
        for (String measure : Measures.all().stream().map(Measure::name).toList()) {
            List<Cell> cells = SCENARIOS.stream()
                .flatMap((scenario) -> CONTENDERS.stream()
                    .map((contender) -> new Cell(contender, scenario, 1, 1, figures, null, weather, List.of())))
                .toList();
            Function<String, Optional<Result>> results = (name) -> Optional.of(new Result(name,
                    new Conditions("full", 5, "7", "PATH", "17", List.of(), "m", 1),
                    List.of(new Turn("all", 1, new Source("c", false, "", "", ""), "2026-01-01T00:00:00Z", 1, cells))));
            Goals.all(results)
                .stream()
                .filter((goal) -> goal.measure().equals(measure)
                        && goal.evaluate(results).status() != Outcome.Status.NOT_MEASURED)
                .forEach((goal) -> decided.add(measure));
        }
        return decided;
    }

    @Test
    void whatWasNotMeasuredIsNotMet() {
        assertThat(outcome(Goal.atMost(1, "send", "100 B", Figure.PER_SECOND))).isEqualTo(Outcome.NOT_MEASURED);
        assertThat(Goals.all((name) -> Optional.empty()))
            .allSatisfy((goal) -> assertThat(outcome(goal)).isEqualTo(Outcome.NOT_MEASURED));
    }

}
