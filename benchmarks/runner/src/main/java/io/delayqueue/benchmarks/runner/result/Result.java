package io.delayqueue.benchmarks.runner.result;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.TreeMap;

/**
 * All cells of a measure.
 *
 * @param measure its name
 * @param conditions under what it was taken
 * @param cells what came out
 */
public record Result(String measure, Conditions conditions, List<Cell> cells) {

    /** The scenarios, in the order in which they were measured. */
    public List<String> scenarios() {
        return this.cells.stream().map(Cell::scenario).distinct().toList();
    }

    /** The contenders of a scenario, in the order in which they were measured. */
    public List<String> contenders(String scenario) {
        return this.cells.stream()
            .filter((cell) -> cell.scenario().equals(scenario))
            .map(Cell::contender)
            .distinct()
            .sorted((one, other) -> Integer.compare(rank(one), rank(other)))
            .toList();
    }

    private static int rank(String contender) {
        List<String> order = List.of("limit", "redis-benchmark", "base", "delayqueue", "changed", "delayqueue-defaults",
                "redisson", "rqueue", "rqueue-tuned");
        int rank = order.indexOf(contender);
        return (rank < 0) ? order.size() : rank;
    }

    /** The cells of a contender in a scenario, by round. */
    public List<Cell> cells(String contender, String scenario) {
        return this.cells.stream()
            .filter((cell) -> cell.contender().equals(contender) && cell.scenario().equals(scenario))
            .toList();
    }

    /** A figure of a contender in a scenario, over the rounds. */
    public Spread spread(String contender, String scenario, String figure) {
        return new Spread(values(contender, scenario, figure).values().stream().toList());
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
        return new Spread(this.cells.stream()
            .filter((cell) -> cell.contender().equals(contender))
            .flatMapToDouble((cell) -> cell.seconds().stream())
            .boxed()
            .toList());
    }

    /** The quotient of two contenders' figures, round by round. */
    public Spread ratio(String scenario, String figure, String contender, String other) {
        Map<Integer, Double> divisors = values(other, scenario, figure);
        List<Double> ratios = new ArrayList<>();
        values(contender, scenario, figure).forEach((round, value) -> {
            double divisor = divisors.getOrDefault(round, 0.0);
            if (divisor > 0) {
                ratios.add(value / divisor);
            }
        });
        return new Spread(ratios);
    }

    private Map<Integer, Double> values(String contender, String scenario, String figure) {
        Map<Integer, Double> values = new TreeMap<>();
        for (Cell cell : cells(contender, scenario)) {
            Double value = cell.figures().get(figure);
            if (value != null) {
                values.put(cell.round(), value);
            }
        }
        return values;
    }

    /** The greatest steal of all cells, in percent. */
    public OptionalDouble maxSteal() {
        return this.cells.stream().mapToDouble((cell) -> cell.weather().stealPercent()).max();
    }

}
