package io.delayqueue.benchmarks.runner.report;

import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToLongFunction;

import io.delayqueue.benchmarks.runner.result.Cell;
import io.delayqueue.benchmarks.runner.result.Delivery;
import io.delayqueue.benchmarks.runner.result.Figure;
import io.delayqueue.benchmarks.runner.result.Result;
import io.delayqueue.benchmarks.runner.result.Spread;

/**
 * A goal for one measure.
 *
 * @param measure whose result says whether it is met
 * @param text what is to be reached, as a formula
 * @param check says whether it is, or that it was not measured
 */
record Goal(String measure, String text, Function<Result, Outcome> check) {

    static final String OURS = "delayqueue";

    /** Absolute times count only in rounds in which the hypervisor took less. */
    private static final double QUIET_STEAL_PERCENT = 2;

    Outcome evaluate(Function<String, Optional<Result>> results) {
        return results.apply(this.measure).map(this.check).orElse(Outcome.NOT_MEASURED);
    }

    /**
     * Requires that the median of the rounds' quotients of ours by another's reaches the
     * bound.
     */
    static Goal atLeast(double bound, String measure, String scenario, Figure figure, String other) {
        return new Goal(measure, "%s: %s ≥ %s × %s".formatted(scenario, figure.heading(), Numbers.bound(bound), other),
                (result) -> {
                    Spread ratio = result.ratio(scenario, figure.name(), OURS, other);
                    return outcome(ratio, !ratio.isEmpty() && ratio.median() >= bound, "×");
                });
    }

    /**
     * Requires that the median of the rounds' quotients of ours by another's stays within
     * the bound.
     */
    static Goal atMost(double bound, String measure, String scenario, Figure figure, String other) {
        return new Goal(measure, "%s: %s ≤ %s × %s".formatted(scenario, figure.heading(), Numbers.bound(bound), other),
                (result) -> {
                    Spread ratio = result.ratio(scenario, figure.name(), OURS, other);
                    return outcome(ratio, !ratio.isEmpty() && ratio.median() <= bound, "×");
                });
    }

    /** Requires that the median of the quiet rounds stays within the bound. */
    static Goal atMost(double bound, String measure, String scenario, Figure figure) {
        return new Goal(measure, "%s: %s ≤ %s".formatted(scenario, figure.heading(), Numbers.bound(bound)),
                (result) -> {
                    List<Cell> cells = result.cells(OURS, scenario);
                    Spread quiet = new Spread(cells.stream()
                        .filter((cell) -> cell.weather().stealPercent() < QUIET_STEAL_PERCENT)
                        .map((cell) -> cell.figures().get(figure.name()))
                        .filter((value) -> value != null)
                        .toList());
                    if (quiet.isEmpty() && !cells.isEmpty()) {
                        return new Outcome(Outcome.Status.NOT_MEASURED, "no round with steal under 2 %");
                    }
                    return outcome(quiet, !quiet.isEmpty() && quiet.median() <= bound, "");
                });
    }

    /** Not once in any round of the scenarios whose names begin so. */
    static Goal none(String measure, String scenarios, String text, ToLongFunction<Delivery> count) {
        return new Goal(measure, (scenarios.isEmpty() ? "0 " : scenarios + ": 0 ") + text, (result) -> {
            long sum = 0;
            boolean measured = false;
            for (Cell cell : result.cells()) {
                if (cell.contender().equals(OURS) && cell.scenario().startsWith(scenarios) && cell.delivery() != null) {
                    measured = true;
                    sum += count.applyAsLong(cell.delivery());
                }
            }
            return measured ? Outcome.of(sum == 0, String.valueOf(sum)) : Outcome.NOT_MEASURED;
        });
    }

    private static Outcome outcome(Spread spread, boolean met, String sign) {
        return spread.isEmpty() ? Outcome.NOT_MEASURED : Outcome.of(met, Numbers.write(spread) + sign);
    }

}
