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
import io.delayqueue.benchmarks.runner.report.Report;
import io.delayqueue.benchmarks.runner.result.Cell;
import io.delayqueue.benchmarks.runner.result.Delivery;
import io.delayqueue.benchmarks.runner.result.Result;
import io.delayqueue.benchmarks.runner.result.ResultFiles;

/**
 * The command. Words in any order: a mode ({@code quick} by default), names of measures
 * (all by default), {@code report} to make the page from the results of a full run, or
 * {@code compare} to measure the library built in {@code -Dbench.base} beside this one.
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
        else {
            run(root, bench, mode, measures.isEmpty() ? Measures.all() : measures);
        }
    }

    /** Only results of a full run are kept under version control. */
    private static void run(Path root, Bench bench, Mode mode, List<Measure> measures) {
        Path target = root.resolve("benchmarks/runner/target");
        boolean full = mode == Mode.FULL;
        ResultFiles files = new ResultFiles(full ? root.resolve(RESULTS) : target.resolve("results"));
        List<Cell> broken = new ArrayList<>();
        for (Measure measure : measures) {
            Result result = bench.run(measure);
            System.out.println(files.write(result));
            result.cells().stream().filter(Main::breaksAPromise).forEach(broken::add);
        }
        if (full) {
            publish(root);
        }
        else {
            System.out.println(new Report(files, Measures.all()).write(target.resolve("report")));
        }
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
        return cell.scenario().equals("failed")
                || (delivery != null && delivery.missing() + delivery.early() + delivery.unexpected() > 0);
    }

    private static void publish(Path root) {
        ResultFiles files = new ResultFiles(root.resolve(RESULTS));
        System.out.println(new Report(files, Measures.all()).write(root.resolve("docs")));
    }

}
