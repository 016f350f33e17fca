package io.delayqueue.benchmarks.jmh;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The command. {@code measure <file>} runs all benchmarks on the library of the class
 * path, and writes their results as JSON. {@code compare <base> <changed>} prints the
 * results beside each other, and fails if an allocation misses its goal.
 */
final class Allocations {

    /** The most bytes of one message, by the methods of the benchmarks. */
    static final Map<String, Integer> GOALS = Map.of("SendBenchmark.send", 2800, "SendBenchmark.sendAsync16", 2400,
            "SendBenchmark.sendAll", 1500, "HandleBenchmark.handle", 2600, "EnvelopeBenchmark.write", 750,
            "EnvelopeBenchmark.writeWithHeaders", 1000);

    private static final int ITERATIONS = Integer.getInteger("jmh.iterations", 5);

    private Allocations() {
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("measure")) {
            measure(arguments[1]);
            return;
        }
        List<String> missed = new ArrayList<>();
        System.out.print(table(read(arguments[1]), read(arguments[2]), missed));
        if (!missed.isEmpty()) {
            System.err.println("More bytes for each message than the goal: " + missed);
            System.exit(1);
        }
    }

    private static void measure(String file) throws Exception {
        new Runner(new OptionsBuilder().include("io\\.delayqueue\\.benchmarks\\.jmh\\..*Benchmark")
            .mode(Mode.AverageTime)
            .timeUnit(TimeUnit.MICROSECONDS)
            .addProfiler(GCProfiler.class)
            .forks(1)
            .warmupIterations(ITERATIONS)
            .warmupTime(TimeValue.seconds(2))
            .measurementIterations(ITERATIONS)
            .measurementTime(TimeValue.seconds(2))
            .jvmArgs("-Xms512m", "-Xmx512m", "-XX:+UseParallelGC")
            .resultFormat(ResultFormatType.JSON)
            .result(file)
            .build()).run();
    }

    private static Map<String, Figures> read(String file) throws Exception {
        Map<String, Figures> figures = new TreeMap<>();
        for (JsonNode result : JsonMapper.builder().build().readTree(Files.readString(Path.of(file)))) {
            String name = result.get("benchmark").asString();
            figures.put(name.substring(name.lastIndexOf('.', name.lastIndexOf('.') - 1) + 1),
                    new Figures(result.get("primaryMetric").get("score").asDouble(), bytes(result)));
        }
        return figures;
    }

    private static double bytes(JsonNode result) {
        JsonNode metrics = result.get("secondaryMetrics");
        for (String name : List.of("gc.alloc.rate.norm", "·gc.alloc.rate.norm")) {
            if (metrics.has(name)) {
                return metrics.get(name).get("score").asDouble();
            }
        }
        throw new IllegalStateException("No allocations in " + metrics);
    }

    static String table(Map<String, Figures> base, Map<String, Figures> changed, List<String> missed) {
        StringBuilder table = new StringBuilder("%-36s %10s %10s %8s %8s %10s %10s%n".formatted("of one message",
                "base B", "changed B", "", "goal B", "base µs", "changed µs"));
        changed.forEach((name, now) -> {
            Figures before = base.getOrDefault(name, now);
            int goal = GOALS.getOrDefault(name, Integer.MAX_VALUE);
            boolean met = now.bytes() <= goal;
            if (!met) {
                missed.add(name);
            }
            table.append(String.format(Locale.ROOT, "%-36s %,10.0f %,10.0f %8s %,8d %10.2f %10.2f%s%n", name,
                    before.bytes(), now.bytes(),
                    String.format(Locale.ROOT, "x %.2f", now.bytes() / Math.max(1, before.bytes())), goal,
                    before.micros(), now.micros(), met ? "" : "  NOT MET"));
        });
        return table.toString();
    }

    /**
     * Holds the figures of a benchmark.
     *
     * @param micros time of a message
     * @param bytes allocated for a message
     */
    record Figures(double micros, double bytes) {
    }

}
