package io.delayqueue.benchmarks.runner;

import java.io.PrintStream;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import io.delayqueue.benchmarks.runner.measure.Measure;
import io.delayqueue.benchmarks.runner.measure.Mode;
import io.delayqueue.benchmarks.runner.measure.Round;
import io.delayqueue.benchmarks.runner.process.Checksum;
import io.delayqueue.benchmarks.runner.process.ContenderProcess;
import io.delayqueue.benchmarks.runner.process.Machine;
import io.delayqueue.benchmarks.runner.process.RedisServer;
import io.delayqueue.benchmarks.runner.process.Variant;
import io.delayqueue.benchmarks.runner.process.Workshop;
import io.delayqueue.benchmarks.runner.result.Cell;
import io.delayqueue.benchmarks.runner.result.Conditions;
import io.delayqueue.benchmarks.runner.result.Result;
import io.delayqueue.benchmarks.runner.result.ResultFiles;
import io.delayqueue.benchmarks.runner.result.Source;
import io.delayqueue.benchmarks.runner.result.Turn;
import io.delayqueue.benchmarks.runner.result.Weather;

/**
 * Runs measures: in every round each contender has its turn, with a new Redis and a new
 * JVM, and only one of them is there at a time. The order turns from round to round.
 */
final class Bench {

    /** The number of rounds to measure, in place of the one that the measure defines. */
    private static final String ROUNDS = "bench.rounds";

    private final Workshop workshop;

    private final Mode mode;

    private final PrintStream out;

    private final Map<Variant, String> contenders = new HashMap<>();

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
        Result result = new Result(measure.name(), conditions(rounds(measure)), List.of());
        for (Progress.Slot slot : slots(measure)) {
            result = result.with(turn(measure, slot.variant(), slot.round()));
        }
        return result;
    }

    /** Measures with certain contenders. */
    Result run(Measure measure, List<Variant> variants, int rounds) {
        Result result = new Result(measure.name(), conditions(rounds), List.of());
        for (int number = 1; number <= rounds; number++) {
            for (Variant variant : order(variants, number)) {
                result = result.with(turn(measure, variant, number));
            }
        }
        return result;
    }

    /**
     * Measures the turns that the kept result does not have, or has of other code, and
     * keeps each at once. A round is begun only if all of it fits into the time that is
     * left, by how long the turns took before, so that contenders that are compared are
     * measured one after the other.
     * @return whether nothing is left to measure
     */
    boolean complete(Measure measure, ResultFiles files, TimeBudget budget) {
        Map<Variant, Source> sources = new HashMap<>();
        measure.variants(this.mode).forEach((variant) -> sources.put(variant, source(measure, variant)));
        Progress progress = new Progress(slots(measure), sources, files.read(measure.name()).orElse(null));
        List<Progress.Slot> missing = progress.missing();
        if (missing.isEmpty()) {
            return true;
        }
        Result result = new Result(measure.name(), conditions(rounds(measure)), progress.kept());
        int round = 0;
        for (int i = 0; i < missing.size(); i++) {
            Progress.Slot slot = missing.get(i);
            if (!budget.fits(progress.seconds(missing.subList(i, missing.size()), slot.round() != round))) {
                this.out.printf("%s: %d of %d turns are left%n", measure.name(), missing.size() - i,
                        slots(measure).size());
                return false;
            }
            round = slot.round();
            result = result.with(turn(measure, slot.variant(), round));
            files.write(result);
        }
        return true;
    }

    private int rounds(Measure measure) {
        return Integer.getInteger(ROUNDS, measure.rounds(this.mode));
    }

    /** Returns all turns of a measure, in their order. */
    private List<Progress.Slot> slots(Measure measure) {
        List<Progress.Slot> slots = new ArrayList<>();
        List<Variant> variants = measure.variants(this.mode);
        for (int number = 1; number <= rounds(measure); number++) {
            for (Variant variant : order(variants, number)) {
                if (number <= Integer.getInteger(ROUNDS, measure.rounds(this.mode, variant))) {
                    slots.add(new Progress.Slot(variant, number));
                }
            }
        }
        return slots;
    }

    private static List<Variant> order(List<Variant> variants, int round) {
        List<Variant> order = new ArrayList<>(variants);
        Collections.rotate(order, round - 1);
        return order;
    }

    /** A contender that fails is part of the result. */
    private Turn turn(Measure measure, Variant variant, int number) {
        Round round = new Round(this.workshop, this.mode, variant, number);
        List<Cell> cells = new ArrayList<>();
        String date = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
        long start = System.nanoTime();
        try {
            measure.measure(round);
            cells.addAll(round.cells());
        }
        catch (RuntimeException ex) {
            cells.addAll(round.cells());
            cells.add(new Cell(variant.name(), Cell.FAILED, 0, number, Map.of(), null,
                    new Weather(0, 0.0, 0, Machine.load(), Instant.now().truncatedTo(ChronoUnit.SECONDS).toString()),
                    List.of("failed: " + ex)));
        }
        long seconds = Duration.ofNanos(System.nanoTime() - start).toSeconds();
        this.out.printf("%s, round %d, %s: %d s%n", measure.name(), number, variant.name(), seconds);
        for (Cell cell : cells) {
            this.out.printf("  %-28s %s %s steal %.1f%% other %s%% %s%n", cell.scenario(), cell.figures(),
                    (cell.delivery() == null) ? "" : cell.delivery().isExact() ? "exact" : cell.delivery(),
                    cell.weather().stealPercent(), cell.weather().otherPercent(), cell.notes());
        }
        this.out.flush();
        return new Turn(variant.name(), number, source(measure, variant), date, seconds, List.copyOf(cells));
    }

    private Source source(Measure measure, Variant variant) {
        return new Source(Machine.commit(this.workshop.root()), Machine.isDirty(this.workshop.root()),
                this.contenders.computeIfAbsent(variant, this.workshop::checksum),
                Checksum.ofFile(this.workshop.binary().path()), Checksum.ofClass(measure.getClass()));
    }

    private Conditions conditions(int rounds) {
        try (RedisServer redis = RedisServer.start(this.workshop.binary(), this.workshop.scratch().resolve("probe"))) {
            Map<String, String> info = redis.link().info("server", "memory");
            return new Conditions(this.mode.name().toLowerCase(Locale.ROOT), rounds,
                    "%s, %s, commit %s, build %s, CRC %s".formatted(info.getOrDefault("redis_version", "?"),
                            info.getOrDefault("mem_allocator", "?"), info.getOrDefault("redis_git_sha1", "?"),
                            info.getOrDefault("redis_build_id", "?"), Checksum.ofFile(this.workshop.binary().path())),
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
