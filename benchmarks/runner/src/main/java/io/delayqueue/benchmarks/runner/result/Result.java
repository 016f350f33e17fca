package io.delayqueue.benchmarks.runner.result;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.DoubleBinaryOperator;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Holds all turns of a measure.
 *
 * @param measure its name
 * @param conditions under what it was taken
 * @param turns in the order in which they were measured
 */
public record Result(String measure, Conditions conditions, List<Turn> turns) {

    /** Returns the cells of all turns. */
    public List<Cell> cells() {
        return this.turns.stream().flatMap((turn) -> turn.cells().stream()).toList();
    }

    /** Returns the result with a turn in place of an earlier one. */
    public Result with(Turn turn) {
        return new Result(this.measure, this.conditions,
                Stream
                    .concat(this.turns.stream()
                        .filter((each) -> !each.contender().equals(turn.contender()) || each.round() != turn.round()),
                            Stream.of(turn))
                    .toList());
    }

    /** Returns the commits that were measured, those with changes marked. */
    public String commits() {
        return this.turns.stream()
            .map((turn) -> turn.source().commit() + (turn.source().dirty() ? " with changes" : ""))
            .distinct()
            .collect(Collectors.joining(", "));
    }

    /** Returns how many rounds a contender has. */
    public long rounds(String contender) {
        return this.turns.stream().filter((turn) -> turn.contender().equals(contender)).count();
    }

    /** Returns when the first and the last turn began. */
    public String dates() {
        List<String> dates = this.turns.stream().map(Turn::date).sorted().toList();
        if (dates.isEmpty()) {
            return "";
        }
        String first = dates.get(0);
        String last = dates.get(dates.size() - 1);
        return first.equals(last) ? first : first + " to " + last;
    }

    /** Returns how long all turns took. */
    public long seconds() {
        return this.turns.stream().mapToLong(Turn::seconds).sum();
    }

    /** The scenarios, in the order in which they were measured. */
    public List<String> scenarios() {
        return cells().stream().map(Cell::scenario).distinct().toList();
    }

    /** The contenders of a scenario, in the order in which they were measured. */
    public List<String> contenders(String scenario) {
        return cells().stream()
            .filter((cell) -> cell.scenario().equals(scenario))
            .map(Cell::contender)
            .distinct()
            .sorted((one, other) -> Integer.compare(rank(one), rank(other)))
            .toList();
    }

    private static int rank(String contender) {
        List<String> order = List.of("timer", "timer-ms", "socket", "limit", "limit-leased", "redis-benchmark", "base",
                "delayqueue", "changed", "delayqueue-defaults", "redisson", "redisson-tuned", "rqueue", "rqueue-tuned");
        int rank = order.indexOf(contender);
        return (rank < 0) ? order.size() : rank;
    }

    /** The cells of a contender in a scenario, by round. */
    public List<Cell> cells(String contender, String scenario) {
        return cells().stream()
            .filter((cell) -> cell.contender().equals(contender) && cell.scenario().equals(scenario))
            .toList();
    }

    /** A figure of a contender in a scenario, over the rounds. */
    public Spread spread(String contender, String scenario, String figure) {
        return spread(contender, scenario, figure, (cell) -> true);
    }

    /** A figure of a contender in a scenario, over the rounds whose cells qualify. */
    public Spread spread(String contender, String scenario, String figure, Predicate<Cell> condition) {
        return new Spread(values(contender, scenario, figure, condition).values().stream().toList());
    }

    /** How long the cells of a contender in a scenario were, as far as is known. */
    public Spread seconds(String contender, String scenario) {
        return new Spread(cells(contender, scenario).stream()
            .flatMapToDouble((cell) -> cell.seconds().stream())
            .boxed()
            .toList());
    }

    /** How long the cells of a contender were in all scenarios, as far as is known. */
    public Spread seconds(String contender) {
        return new Spread(cells().stream()
            .filter((cell) -> cell.contender().equals(contender))
            .flatMapToDouble((cell) -> cell.seconds().stream())
            .boxed()
            .toList());
    }

    /** The quotient of two contenders' figures, round by round. */
    public Spread ratio(String scenario, String figure, String contender, String other) {
        return ratio(scenario, figure, contender, other, (cell) -> true);
    }

    /**
     * The quotient of two contenders' figures, round by round.
     * @param condition on both cells of a round
     */
    public Spread ratio(String scenario, String figure, String contender, String other, Predicate<Cell> condition) {
        Map<Integer, Double> divisors = values(other, scenario, figure, condition);
        divisors.values().removeIf((divisor) -> divisor <= 0);
        return both(values(contender, scenario, figure, condition), divisors, (one, two) -> one / two);
    }

    /**
     * The quotient of a contender's figures in two scenarios, round by round.
     * @param condition on both cells of a round
     */
    public Spread growth(String contender, String figure, String from, String to, Predicate<Cell> condition) {
        Map<Integer, Double> divisors = values(contender, from, figure, condition);
        divisors.values().removeIf((divisor) -> divisor <= 0);
        return both(values(contender, to, figure, condition), divisors, (one, two) -> one / two);
    }

    /** How much greater a contender's figure is than another's, round by round. */
    public Spread difference(String scenario, String figure, String contender, String other,
            Predicate<Cell> condition) {
        return both(values(contender, scenario, figure, condition), values(other, scenario, figure, condition),
                (one, two) -> one - two);
    }

    private static Spread both(Map<Integer, Double> ones, Map<Integer, Double> others, DoubleBinaryOperator combined) {
        List<Double> values = new ArrayList<>();
        ones.forEach((round, one) -> {
            Double other = others.get(round);
            if (other != null) {
                values.add(combined.applyAsDouble(one, other));
            }
        });
        return new Spread(values);
    }

    private Map<Integer, Double> values(String contender, String scenario, String figure, Predicate<Cell> condition) {
        Map<Integer, Double> values = new TreeMap<>();
        for (Cell cell : cells(contender, scenario)) {
            Double value = cell.figures().get(figure);
            if (value != null && condition.test(cell)) {
                values.put(cell.round(), value);
            }
        }
        return values;
    }

}
