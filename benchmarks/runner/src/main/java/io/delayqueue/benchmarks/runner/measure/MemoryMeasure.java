package io.delayqueue.benchmarks.runner.measure;

import java.util.List;

import io.delayqueue.benchmarks.runner.process.Meter;
import io.delayqueue.benchmarks.runner.process.Stage;
import io.delayqueue.benchmarks.runner.process.Usage;
import io.delayqueue.benchmarks.runner.process.Variant;
import io.delayqueue.benchmarks.runner.result.Figure;

/** Memory of Redis for messages that wait. */
final class MemoryMeasure implements Measure {

    @Override
    public String name() {
        return "memory";
    }

    @Override
    public String title() {
        return "Memory";
    }

    @Override
    public String about() {
        return """
                The growth of `used_memory` per waiting message, with ids that the contender generates; those of the limit are as \
                long as DelayQueue's (16 characters). This is a count, so a busy machine does not change it.""";
    }

    @Override
    public List<Variant> variants(Mode mode) {
        return (mode != Mode.FULL) ? List.of(Variant.LIMIT, Variant.OURS, Variant.REDISSON)
                : List.of(Variant.LIMIT, Variant.OURS, Variant.REDISSON, Variant.RQUEUE, Variant.RQUEUE_TUNED);
    }

    @Override
    public int rounds(Mode mode) {
        return 1;
    }

    @Override
    public void measure(Round round) {
        try (Stage stage = round.open("handlers=16")) {
            stage.call("bulk count=100 bytes=100 tracked=no dueFrom=%d", System.currentTimeMillis() + 3_600_000);
            for (int bytes : List.of(100, 1024)) {
                for (int pending : sizes(round, bytes)) {
                    cell(round, stage, bytes, pending);
                }
            }
        }
    }

    private static List<Integer> sizes(Round round, int bytes) {
        return switch (round.mode()) {
            case SMOKE -> List.of(1000);
            case QUICK -> List.of(10_000);
            case FULL -> round.variant().isRqueue() ? List.of(10_000)
                    : (bytes == 100) ? List.of(10_000, 100_000, 1_000_000) : List.of(10_000, 100_000);
        };
    }

    private static void cell(Round round, Stage stage, int bytes, int pending) {
        stage.flush();
        stage.awaitQuiet();
        long before = used(stage);
        Meter meter = Meter.start(stage);
        long now = System.currentTimeMillis();
        stage.call("bulk count=%d bytes=%d tracked=no dueFrom=%d dueTo=%d", pending, bytes, now + 3_600_000,
                now + 90_000_000);
        Usage usage = meter.stop();
        stage.awaitQuiet();
        double each = (used(stage) - before) / (double) pending;
        round.record(
                new Round.Scenario("%s, %,d pending".formatted((bytes == 100) ? "100 B" : "1 KiB", pending), pending),
                new Figures().with(Figure.SECONDS, usage.seconds()).with(Figure.BYTES, each), null, usage.weather());
    }

    private static long used(Stage stage) {
        return Long.parseLong(stage.redis().link().info("memory").getOrDefault("used_memory", "0"));
    }

}
