package io.delayqueue.benchmarks.runner;

import java.io.PrintStream;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import io.delayqueue.benchmarks.runner.measure.Measure;
import io.delayqueue.benchmarks.runner.measure.Mode;
import io.delayqueue.benchmarks.runner.measure.Round;
import io.delayqueue.benchmarks.runner.process.ContenderProcess;
import io.delayqueue.benchmarks.runner.process.Machine;
import io.delayqueue.benchmarks.runner.process.RedisServer;
import io.delayqueue.benchmarks.runner.process.Variant;
import io.delayqueue.benchmarks.runner.process.Workshop;
import io.delayqueue.benchmarks.runner.result.Cell;
import io.delayqueue.benchmarks.runner.result.Conditions;
import io.delayqueue.benchmarks.runner.result.Result;
import io.delayqueue.benchmarks.runner.result.Weather;

/**
 * Runs measures: in every round each contender has its turn, with a new Redis and a new
 * JVM, and only one of them is there at a time. The order turns from round to round.
 */
final class Bench {

    private final Workshop workshop;

    private final Mode mode;

    private final PrintStream out;

    Bench(Workshop workshop, Mode mode, PrintStream out) {
        this.workshop = workshop;
        this.mode = mode;
        this.out = out;
    }

    /**
     * Measures with the contenders of the measure, in as many rounds as it or the user
     * wants.
     */
    Result run(Measure measure) {
        return run(measure, measure.variants(this.mode), Integer.getInteger("bench.rounds", measure.rounds(this.mode)));
    }

    /** Measures with certain contenders. */
    Result run(Measure measure, List<Variant> variants, int rounds) {
        Instant begin = Instant.now();
        List<Cell> cells = new ArrayList<>();
        List<Variant> order = new ArrayList<>(variants);
        for (int number = 1; number <= rounds; number++) {
            for (Variant variant : order) {
                cells.addAll(turn(measure, variant, number));
            }
            Collections.rotate(order, 1);
        }
        return new Result(measure.name(), conditions(begin, rounds), cells);
    }

    /** A contender that fails is part of the result. */
    private List<Cell> turn(Measure measure, Variant variant, int number) {
        Round round = new Round(this.workshop, this.mode, variant, number);
        List<Cell> cells = new ArrayList<>();
        long start = System.nanoTime();
        try {
            measure.measure(round);
            cells.addAll(round.cells());
        }
        catch (RuntimeException ex) {
            cells.addAll(round.cells());
            cells.add(new Cell(variant.name(), "failed", 0, number, Map.of(), null,
                    new Weather(0, 0, Machine.load(), Instant.now().truncatedTo(ChronoUnit.SECONDS).toString()),
                    List.of("failed: " + ex)));
        }
        this.out.printf("%s, round %d, %s: %d s%n", measure.name(), number, variant.name(),
                Duration.ofNanos(System.nanoTime() - start).toSeconds());
        for (Cell cell : cells) {
            this.out.printf("  %-28s %s %s steal %.1f%% %s%n", cell.scenario(), cell.figures(),
                    (cell.delivery() == null) ? "" : cell.delivery().isExact() ? "exact" : cell.delivery(),
                    cell.weather().stealPercent(), cell.notes());
        }
        this.out.flush();
        return cells;
    }

    private Conditions conditions(Instant begin, int rounds) {
        try (RedisServer redis = RedisServer.start(this.workshop.binary(), this.workshop.scratch().resolve("probe"))) {
            Map<String, String> info = redis.link().info("server", "memory");
            return new Conditions(this.mode.name().toLowerCase(Locale.ROOT), rounds,
                    begin.truncatedTo(ChronoUnit.SECONDS).toString(),
                    Duration.between(begin, Instant.now()).toSeconds(), Machine.commit(this.workshop.root()),
                    Machine.isDirty(this.workshop.root()),
                    info.getOrDefault("redis_version", "?") + ", " + info.getOrDefault("mem_allocator", "?"),
                    this.workshop.binary().from(),
                    System.getProperty("java.vm.name") + " " + System.getProperty("java.version"),
                    ContenderProcess.FLAGS, Machine.describe(), clockOffset(redis));
        }
    }

    /** Due times and lateness are by one clock only if this is small. */
    private static long clockOffset(RedisServer redis) {
        long greatest = 0;
        for (int i = 0; i < 100; i++) {
            Instant before = Instant.now();
            List<String> time = redis.link().call("TIME");
            Instant there = Instant.ofEpochSecond(Long.parseLong(time.get(0)), Long.parseLong(time.get(1)) * 1000);
            greatest = Math.max(greatest, Math.abs(ChronoUnit.MICROS.between(before, there)));
        }
        return greatest;
    }

}
