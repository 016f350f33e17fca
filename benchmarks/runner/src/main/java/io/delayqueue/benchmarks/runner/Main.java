package io.delayqueue.benchmarks.runner;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import io.delayqueue.benchmarks.runner.measure.Measure;
import io.delayqueue.benchmarks.runner.measure.Measures;
import io.delayqueue.benchmarks.runner.measure.Mode;
import io.delayqueue.benchmarks.runner.process.RedisBinary;
import io.delayqueue.benchmarks.runner.process.Variant;
import io.delayqueue.benchmarks.runner.process.Workshop;
import io.delayqueue.benchmarks.runner.report.PublishedTables;
import io.delayqueue.benchmarks.runner.report.Report;
import io.delayqueue.benchmarks.runner.result.Cell;
import io.delayqueue.benchmarks.runner.result.Delivery;
import io.delayqueue.benchmarks.runner.result.ResultFiles;

/**
 * The command. Words in any order: a mode ({@code quick} by default), names of measures
 * (all by default), {@code report} to make the pages from the results of a full run, or
 * {@code compare} to measure the library built in {@code -Dbench.base} beside this one. A
 * full run continues an earlier one of the same code, and ends after
 * {@code -Dbench.minutes}, if given.
 */
final class Main {

    private static final String RESULTS = "benchmarks/results";

    private Main() {
    }

    public static void main(String[] arguments) {
        Path root = Path.of(System.getProperty("bench.root", ".")).toAbsolutePath().normalize();
        Mode mode = Mode.QUICK;
        boolean compare = false;
        List<Measure> measures = new ArrayList<>();
        for (String argument : arguments) {
            switch (argument) {
                case "smoke" -> mode = Mode.SMOKE;
                case "quick" -> mode = Mode.QUICK;
                case "full" -> mode = Mode.FULL;
                case "compare" -> compare = true;
                case "report" -> {
                    publish(root);
                    return;
                }
                default -> measures.add(Measures.named(argument));
            }
        }
        Path target = root.resolve("benchmarks/runner/target");
        Bench bench = new Bench(new Workshop(root, target.resolve("bench"), RedisBinary.find(root)), mode, System.out);
        if (compare) {
            new Comparison(bench, Path.of(System.getProperty("bench.base"))).run(measures, System.out);
        }
        else if (mode == Mode.FULL) {
            complete(root, bench, measures.isEmpty() ? Measures.all() : measures);
        }
        else {
            run(target, bench, measures.isEmpty() ? Measures.all() : measures);
        }
    }

    private static void run(Path target, Bench bench, List<Measure> measures) {
        ResultFiles files = new ResultFiles(target.resolve("results"));
        for (Measure measure : measures) {
            System.out.println(files.write(bench.run(measure)));
        }
        System.out.println(new Report(files, Measures.all()).write(target.resolve("report")));
        requirePromises(files, measures);
    }

    /** Results of a full run are kept under version control. */
    private static void complete(Path root, Bench bench, List<Measure> measures) {
        ResultFiles files = new ResultFiles(root.resolve(RESULTS));
        TimeBudget budget = TimeBudget.ofMinutes(Integer.getInteger("bench.minutes", 0));
        List<String> incomplete = new ArrayList<>();
        for (Measure measure : measures) {
            if (!bench.complete(measure, files, budget)) {
                incomplete.add(measure.name());
            }
        }
        if (!incomplete.isEmpty()) {
            System.out.println("Run it again to complete " + String.join(", ", incomplete));
        }
        publish(root);
        requirePromises(files, measures);
    }

    private static void requirePromises(ResultFiles files, List<Measure> measures) {
        List<Cell> broken = measures.stream()
            .flatMap((measure) -> files.read(measure.name()).stream())
            .flatMap((result) -> result.cells().stream())
            .filter(Main::breaksAPromise)
            .toList();
        if (!broken.isEmpty()) {
            System.err.println("DelayQueue failed, lost messages or was early: " + broken);
            System.exit(1);
        }
    }

    /** Whether a cell of ours failed, or delivered early or not at all. */
    private static boolean breaksAPromise(Cell cell) {
        if (!cell.contender().startsWith(Variant.OURS.name())) {
            return false;
        }
        Delivery delivery = cell.delivery();
        return cell.scenario().equals(Cell.FAILED)
                || (delivery != null && delivery.missing() + delivery.early() + delivery.unexpected() > 0);
    }

    private static void publish(Path root) {
        ResultFiles files = new ResultFiles(root.resolve(RESULTS));
        System.out.println(new Report(files, Measures.all()).write(root.resolve("docs")));
        new PublishedTables(files).write(root);
    }

}
