package io.delayqueue.benchmarks.runner;

import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import io.delayqueue.benchmarks.runner.measure.Measure;
import io.delayqueue.benchmarks.runner.measure.Measures;
import io.delayqueue.benchmarks.runner.process.Variant;
import io.delayqueue.benchmarks.runner.result.Figure;
import io.delayqueue.benchmarks.runner.result.Result;
import io.delayqueue.benchmarks.runner.result.Spread;

/**
 * The library before and after a change, interleaved, on the measures of the hot path.
 * Both run the contender that is built here, so the change must not alter what that uses.
 */
final class Comparison {

    private static final int ROUNDS = 4;

    private static final List<String> HOT_PATH = List.of("send", "sendAll", "drain", "sustained");

    private static final Set<Figure> FIGURES = Set.of(Figure.PER_SECOND, Figure.REDIS_MICROS, Figure.JVM_MICROS,
            Figure.CPU_MICROS, Figure.COMMANDS, Figure.P50, Figure.P99);

    private final Bench bench;

    private final Variant base;

    private final Variant changed = Variant.OURS.named("changed");

    /**
     * Compares the library built here with the one built in another directory.
     * @param base directory of the project before the change, compiled
     */
    Comparison(Bench bench, Path base) {
        this.bench = bench;
        this.base = Variant.OURS.named("base").on(base.toAbsolutePath().normalize());
    }

    /** Measures, and prints the quotients of each figure: after the change, by before. */
    void run(List<Measure> measures, PrintStream out) {
        List<Measure> chosen = measures.isEmpty() ? HOT_PATH.stream().map(Measures::named).toList() : measures;
        StringBuilder table = new StringBuilder("changed / base, median (min-max) of the rounds\n");
        for (Measure measure : chosen) {
            Result result = this.bench.run(measure, List.of(this.base, this.changed),
                    Integer.getInteger("bench.rounds", ROUNDS));
            result.scenarios().forEach((scenario) -> append(table, result, scenario));
        }
        out.print(table);
    }

    /** A line for each figure; marked if it is worse in every round by 5 % and more. */
    private static void append(StringBuilder table, Result result, String scenario) {
        for (Figure figure : Figure.values()) {
            Spread ratio = result.ratio(scenario, figure.name(), "changed", "base");
            if (FIGURES.contains(figure) && !ratio.isEmpty()) {
                boolean worse = (figure == Figure.PER_SECOND) ? ratio.max() < 0.95 : ratio.min() > 1.05;
                table.append(String.format(Locale.ROOT, "%-10s %-20s %-14s %.2f (%.2f-%.2f)%s%n", result.measure(),
                        scenario, figure.heading(), ratio.median(), ratio.min(), ratio.max(), worse ? "  WORSE" : ""));
            }
        }
    }

}
