package io.delayqueue.benchmarks.runner.report;

import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
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
 * @param contender the contender that is to reach it
 * @param text what is to be reached, as a formula
 * @param check says whether it is, or that it was not measured
 */
record Goal(String measure, String contender, String text, Function<Result, Outcome> check) {

    static final String OURS = "delayqueue";

    /** Rounds count if the hypervisor took less. */
    static final double QUIET_STEAL_PERCENT = 2;

    /** Rounds count if other processes of the machine used less. */
    static final double QUIET_OTHER_PERCENT = 5;

    /** How many quiet rounds a figure needs that depends on time. */
    static final int ROUNDS = 5;

    /** How much worse than its bound the worse quartile may be. */
    private static final double QUARTILE = 0.95;

    /** Rates whose quartiles are further apart, by the median, decide nothing. */
    private static final double NOISY = 0.2;

    static final Predicate<Cell> QUIET = (cell) -> cell.weather().stealPercent() < QUIET_STEAL_PERCENT
            && cell.weather().otherPercent() != null && cell.weather().otherPercent() < QUIET_OTHER_PERCENT;

    Goal(String measure, String text, Function<Result, Outcome> check) {
        this(measure, OURS, text, check);
    }

    Outcome evaluate(Function<String, Optional<Result>> results) {
        return results.apply(this.measure).map(this.check).orElse(Outcome.NOT_MEASURED);
    }

    /**
     * Requires that our rate by another's reaches the bound, round by round. If rates are
     * too noisy, the CPU per message decides, of the other by ours.
     */
    static Goal atLeast(double bound, String measure, String scenario, String other) {
        return new Goal(measure,
                "%s: %s ≥ %s × %s".formatted(scenario, Figure.PER_SECOND.heading(), Numbers.bound(bound), other),
                (result) -> rateAtLeast(result, scenario, OURS, other, bound));
    }

    /** Compares the rates of two contenders, or their CPU if the rates are too noisy. */
    static Outcome rateAtLeast(Result result, String scenario, String contender, String other, double bound) {
        Spread ratio = result.ratio(scenario, Figure.PER_SECOND.name(), contender, other, QUIET);
        if (isNoisy(ratio)) {
            Spread cpu = result.ratio(scenario, Figure.CPU_MICROS.name(), other, contender, QUIET);
            return atLeast(cpu, bound, "×, by CPU; rates " + Numbers.write(ratio) + "×");
        }
        return atLeast(ratio, bound, "×");
    }

    static boolean isNoisy(Spread spread) {
        return !spread.isEmpty() && spread.quantile(0.75) - spread.quantile(0.25) > NOISY * spread.median();
    }

    /** Requires that ours by another's stays within the bound, round by round. */
    static Goal atMost(double bound, String measure, String scenario, Figure figure, String other) {
        return new Goal(measure, "%s: %s ≤ %s × %s".formatted(scenario, figure.heading(), Numbers.bound(bound), other),
                (result) -> atMost(result.ratio(scenario, figure.name(), OURS, other, QUIET), bound, ROUNDS, "×"));
    }

    /** As {@link #atMost}, for counts, which need one round only. */
    static Goal countAtMost(double bound, String measure, String scenario, Figure figure, String other) {
        return new Goal(measure, "%s: %s ≤ %s × %s".formatted(scenario, figure.heading(), Numbers.bound(bound), other),
                (result) -> atMost(result.ratio(scenario, figure.name(), OURS, other), bound, 1, "×"));
    }

    /** Requires that ours exceeds another's by no more than the bound, round by round. */
    static Goal above(double bound, String measure, String scenario, Figure figure, String other) {
        return new Goal(measure,
                "%s: %s ≤ %s + that of %s".formatted(scenario, figure.heading(), Numbers.bound(bound), other),
                (result) -> atMost(result.difference(scenario, figure.name(), OURS, other, QUIET), bound, ROUNDS, ""));
    }

    /** Requires that a figure stays within the bound. */
    static Goal atMost(double bound, String measure, String scenario, Figure figure) {
        return new Goal(measure, "%s: %s ≤ %s".formatted(scenario, figure.heading(), Numbers.bound(bound)),
                (result) -> atMost(result.spread(OURS, scenario, figure.name(), QUIET), bound, ROUNDS, ""));
    }

    /** As {@link #atMost}, for counts, and for runs that are too long to be repeated. */
    static Goal onceAtMost(double bound, String measure, String scenario, Figure figure) {
        return new Goal(measure, "%s: %s ≤ %s".formatted(scenario, figure.heading(), Numbers.bound(bound)),
                (result) -> atMost(result.spread(OURS, scenario, figure.name()), bound, 1, ""));
    }

    /** Not once in any round of the scenarios whose names begin so. */
    static Goal none(String measure, String scenarios, String text, ToLongFunction<Delivery> count) {
        return new Goal(measure, (scenarios.isEmpty() ? "0 " : scenarios + ": 0 ") + text, (result) -> {
            List<Cell> cells = result.cells()
                .stream()
                .filter((cell) -> cell.contender().equals(OURS) && cell.scenario().startsWith(scenarios)
                        && cell.delivery() != null)
                .toList();
            long sum = cells.stream().map(Cell::delivery).mapToLong(count).sum();
            return cells.isEmpty() ? Outcome.NOT_MEASURED : Outcome.of(sum == 0, String.valueOf(sum));
        });
    }

    static Outcome atLeast(Spread spread, double bound, String unit) {
        return outcome(spread, ROUNDS, unit, !spread.isEmpty() && spread.median() >= bound
                && (spread.values().size() == 1 || spread.quantile(0.25) >= QUARTILE * bound));
    }

    static Outcome atMost(Spread spread, double bound, int rounds, String unit) {
        return outcome(spread, rounds, unit, !spread.isEmpty() && spread.median() <= bound
                && (spread.values().size() == 1 || spread.quantile(0.75) <= bound / QUARTILE));
    }

    private static Outcome outcome(Spread spread, int rounds, String unit, boolean met) {
        int measured = spread.values().size();
        if (measured >= rounds) {
            return Outcome.of(met, Numbers.write(spread) + unit);
        }
        return (measured == 0) ? Outcome.NOT_MEASURED : new Outcome(Outcome.Status.NOT_MEASURED,
                "%s%s in %d of %d quiet rounds".formatted(Numbers.write(spread), unit, measured, rounds));
    }

}
