package io.delayqueue.benchmarks.runner.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.delayqueue.benchmarks.runner.result.Cell;
import io.delayqueue.benchmarks.runner.result.Conditions;
import io.delayqueue.benchmarks.runner.result.Delivery;
import io.delayqueue.benchmarks.runner.result.Figure;
import io.delayqueue.benchmarks.runner.result.Result;
import io.delayqueue.benchmarks.runner.result.Weather;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks that the median decides about a goal, and that an unmeasured goal is never met.
 */
class GoalTests {

    private final List<Cell> cells = new ArrayList<>();

    private void measured(String contender, int round, double perSecond) {
        measured(contender, round, perSecond, 0, 0);
    }

    private void measured(String contender, int round, double perSecond, double steal, long early) {
        this.cells.add(new Cell(contender, "100 B", 100, round, Map.of(Figure.PER_SECOND.name(), perSecond),
                new Delivery(10, 0, 0, 0, early, 0, early), new Weather(steal, 0, 0, "2026-01-01T00:00:00Z"),
                List.of()));
    }

    private Outcome outcome(Goal goal) {
        Conditions conditions = new Conditions("full", 3, "2026-01-01T00:00:00Z", 1, "c", false, "7", "PATH", "17",
                List.of(), "m", 1);
        return goal.evaluate((name) -> name.equals("drain") ? Optional.of(new Result(name, conditions, this.cells))
                : Optional.empty());
    }

    @Test
    void aQuotientIsTakenRoundByRound() {
        measured("delayqueue", 1, 50);
        measured("limit", 1, 100);
        measured("delayqueue", 2, 400);
        measured("limit", 2, 1000);
        measured("delayqueue", 3, 30);
        measured("limit", 3, 100);

        assertThat(outcome(Goal.atLeast(0.4, "drain", "100 B", Figure.PER_SECOND, "limit")))
            .isEqualTo(new Outcome(Outcome.Status.MET, "0.40 (0.30–0.50)×"));
        assertThat(outcome(Goal.atLeast(0.41, "drain", "100 B", Figure.PER_SECOND, "limit")).status())
            .isEqualTo(Outcome.Status.NOT_MET);
        assertThat(outcome(Goal.atMost(0.39, "drain", "100 B", Figure.PER_SECOND, "limit")).status())
            .isEqualTo(Outcome.Status.NOT_MET);
    }

    @Test
    void aRoundWithoutTheOtherDoesNotCount() {
        measured("delayqueue", 1, 50);
        measured("limit", 2, 100);

        assertThat(outcome(Goal.atLeast(0, "drain", "100 B", Figure.PER_SECOND, "limit")))
            .isEqualTo(Outcome.NOT_MEASURED);
    }

    @Test
    void anAbsoluteFigureCountsInQuietRoundsOnly() {
        measured("delayqueue", 1, 9, 1.9, 0);
        measured("delayqueue", 2, 1, 2, 0);

        assertThat(outcome(Goal.atMost(8, "drain", "100 B", Figure.PER_SECOND)))
            .isEqualTo(new Outcome(Outcome.Status.NOT_MET, "9"));
        assertThat(outcome(Goal.atMost(9, "drain", "100 B", Figure.PER_SECOND)).status()).isEqualTo(Outcome.Status.MET);
    }

    @Test
    void withoutAQuietRoundThereIsNoResult() {
        measured("delayqueue", 1, 1, 30, 0);

        assertThat(outcome(Goal.atMost(8, "drain", "100 B", Figure.PER_SECOND)).status())
            .isEqualTo(Outcome.Status.NOT_MEASURED);
    }

    @Test
    void oneEarlyMessageInOneRoundIsOneTooMany() {
        measured("delayqueue", 1, 1);
        measured("limit", 1, 1, 0, 7);
        assertThat(outcome(Goal.none("drain", "", "early", Delivery::early)).status()).isEqualTo(Outcome.Status.MET);

        measured("delayqueue", 2, 1, 0, 1);
        assertThat(outcome(Goal.none("drain", "", "early", Delivery::early)))
            .isEqualTo(new Outcome(Outcome.Status.NOT_MET, "1"));
        assertThat(outcome(Goal.none("drain", "1 KiB", "early", Delivery::early))).isEqualTo(Outcome.NOT_MEASURED);
    }

    @Test
    void whatWasNotMeasuredIsNotMet() {
        assertThat(outcome(Goal.atMost(1, "send", "100 B", Figure.PER_SECOND))).isEqualTo(Outcome.NOT_MEASURED);
        assertThat(Goals.all((name) -> Optional.empty()))
            .allSatisfy((goal) -> assertThat(outcome(goal)).isEqualTo(Outcome.NOT_MEASURED));
    }

}
