package io.delayqueue.benchmarks.runner;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import io.delayqueue.benchmarks.runner.measure.Measure;
import io.delayqueue.benchmarks.runner.measure.Measures;
import io.delayqueue.benchmarks.runner.measure.Mode;
import io.delayqueue.benchmarks.runner.process.RedisBinary;
import io.delayqueue.benchmarks.runner.process.Workshop;
import io.delayqueue.benchmarks.runner.result.Result;
import io.delayqueue.benchmarks.runner.result.ResultFiles;

/**
 * The command: {@code quick} or {@code full}, then names of measures, or none for all.
 */
final class Main {

    private Main() {
    }

    public static void main(String[] arguments) {
        Path root = Path.of(System.getProperty("bench.root", ".")).toAbsolutePath().normalize();
        Workshop workshop = new Workshop(root, root.resolve("benchmarks/runner/target/bench"), RedisBinary.find(root));
        Mode mode = Mode.QUICK;
        List<Measure> measures = new ArrayList<>();
        for (String argument : arguments) {
            switch (argument) {
                case "smoke" -> mode = Mode.SMOKE;
                case "quick" -> mode = Mode.QUICK;
                case "full" -> mode = Mode.FULL;
                default -> measures.add(Measures.named(argument));
            }
        }
        ResultFiles files = new ResultFiles(
                root.resolve((mode == Mode.FULL) ? "benchmarks/results" : "benchmarks/runner/target/results"));
        Bench bench = new Bench(workshop, mode, System.out);
        for (Measure measure : measures.isEmpty() ? Measures.all() : measures) {
            Result result = bench.run(measure);
            System.out.println(files.write(result));
        }
    }

}
