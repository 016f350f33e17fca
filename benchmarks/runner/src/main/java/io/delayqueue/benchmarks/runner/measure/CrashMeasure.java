package io.delayqueue.benchmarks.runner.measure;

import java.util.List;

import io.delayqueue.benchmarks.runner.process.ContenderProcess;
import io.delayqueue.benchmarks.runner.process.Meter;
import io.delayqueue.benchmarks.runner.process.Pause;
import io.delayqueue.benchmarks.runner.process.Reply;
import io.delayqueue.benchmarks.runner.process.Stage;
import io.delayqueue.benchmarks.runner.process.Usage;
import io.delayqueue.benchmarks.runner.process.Variant;
import io.delayqueue.benchmarks.runner.result.Figure;

/** Kills a node in the middle of its work. */
final class CrashMeasure implements Measure {

    /** For contenders that can be configured; it is DelayQueue's default. */
    private static final int LEASE_MILLIS = 30_000;

    @Override
    public String name() {
        return "crash";
    }

    @Override
    public String title() {
        return "Killed node";
    }

    @Override
    public String about() {
        return """
                Two JVMs with 16 handlers each, every handler taking a millisecond, drain a backlog. After a third of it one JVM is \
                killed with SIGKILL. Messages are lost if no handler completes them within the lease and 15 seconds. DelayQueue has \
                its default lease of 30 seconds, Rqueue a visibility timeout of 30 seconds.""";
    }

    @Override
    public List<Variant> variants(Mode mode) {
        return (mode != Mode.FULL) ? List.of(Variant.OURS)
                : List.of(Variant.OURS, Variant.REDISSON,
                        Variant.RQUEUE.with("visibility", String.valueOf(LEASE_MILLIS)),
                        Variant.RQUEUE_TUNED.with("visibility", String.valueOf(LEASE_MILLIS)));
    }

    @Override
    public int rounds(Mode mode) {
        return mode.pick(1, 1, 3);
    }

    @Override
    public void measure(Round round) {
        int messages = round.mode().pick(2000, 10_000, 20_000) / (round.variant().isRqueue() ? 10 : 1);
        try (Stage stage = round.open("handlers=16")) {
            ContenderProcess victim = stage.add("handlers=16 handlerMillis=1");
            ContenderProcess survivor = stage.add("handlers=16 handlerMillis=1");
            SharedCounts counts = SharedCounts.create(round.workshop().scratch(), messages);
            stage.processes().forEach((process) -> process.call(counts.expect()));
            stage.call("bulk count=%d bytes=100 dueFrom=%d", messages, System.currentTimeMillis() - 1000);
            stage.awaitQuiet();
            Meter meter = Meter.start(stage);
            victim.call("start");
            survivor.call("start");
            for (int i = 0; i < 60_000 && counts.completed() < messages / 3; i++) {
                // Real time: the contender is another process.
                Pause.millis(1);
            }
            victim.kill();
            double seconds = awaitAll(counts);
            Usage usage = meter.stop();
            Reply findings = survivor.call("findings");
            round.record(new Round.Scenario("%,d messages".formatted(messages), messages),
                    new Figures().with(Figure.LOST, counts.lost())
                        .with(Figure.BEGUN_TWICE, counts.begunTwice())
                        .with(Figure.ALL_DONE, seconds),
                    counts.delivery(findings.get("early"), findings.get("earlyByAMilli"),
                            findings.get("earliestMicros")),
                    usage.weather());
        }
    }

    /** Seconds until all was handled, or until it is clear that the rest is lost. */
    private static double awaitAll(SharedCounts counts) {
        long start = System.nanoTime();
        long last = start;
        int left = counts.lost();
        while (left > 0 && System.nanoTime() - last < (LEASE_MILLIS + 15_000) * 1_000_000L) {
            // Real time: the contender is another process.
            Pause.millis(50);
            int now = counts.lost();
            if (now < left) {
                left = now;
                last = System.nanoTime();
            }
        }
        return (((left > 0) ? last : System.nanoTime()) - start) / 1e9;
    }

}
