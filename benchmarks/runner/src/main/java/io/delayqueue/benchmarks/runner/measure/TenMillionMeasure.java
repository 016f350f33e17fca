package io.delayqueue.benchmarks.runner.measure;

import java.util.List;

import io.delayqueue.benchmarks.runner.process.Meter;
import io.delayqueue.benchmarks.runner.process.Reply;
import io.delayqueue.benchmarks.runner.process.Stage;
import io.delayqueue.benchmarks.runner.process.Usage;
import io.delayqueue.benchmarks.runner.process.Variant;
import io.delayqueue.benchmarks.runner.result.Figure;

/** Lateness for a long time while ten million wait. */
final class TenMillionMeasure implements Measure {

    @Override
    public String name() {
        return "tenMillion";
    }

    @Override
    public String title() {
        return "Ten million pending messages";
    }

    @Override
    public String about() {
        return """
                Ten million messages of 100 bytes wait with random due times within a day while 1,000 a second are sent with a delay \
                of one second, and handled, for ten minutes.""";
    }

    @Override
    public List<Variant> variants(Mode mode) {
        return List.of(Variant.OURS);
    }

    @Override
    public int rounds(Mode mode) {
        return 1;
    }

    @Override
    public void measure(Round round) {
        int pending = round.mode().pick(2000, 200_000, 10_000_000);
        int seconds = round.mode().pick(2, 15, 600);
        try (Stage stage = round.open("handlers=16")) {
            long now = System.currentTimeMillis();
            stage.call("bulk count=%d bytes=100 tracked=no dueFrom=%d dueTo=%d", pending, now + 7_200_000,
                    now + 93_600_000);
            stage.call("start");
            pace(stage, round.mode().pick(500, 3000, 10_000)); // to warm up
            Meter meter = Meter.start(stage);
            pace(stage, seconds * 1000);
            Usage usage = meter.stop();
            Reply findings = stage.call("findings");
            round.record(new Round.Scenario("%,d pending, 1,000/s for %d s".formatted(pending, seconds), pending),
                    new Figures().withLateness(findings)
                        .with(usage, seconds * 1000L)
                        .with(Figure.BYTES, bytes(stage) / pending),
                    findings.delivery(), usage.weather());
        }
    }

    private static double bytes(Stage stage) {
        return Double.parseDouble(stage.redis().link().info("memory").getOrDefault("used_memory", "0"));
    }

    private static void pace(Stage stage, int count) {
        stage.call("expect count=%d", count);
        stage.call("pace count=%d rate=1000 threads=16 bytes=100 delayMin=1000", count);
        stage.call("await millis=%d", 60_000);
    }

}
