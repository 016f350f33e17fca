package io.delayqueue.benchmarks.runner.measure;

import java.util.List;

import io.delayqueue.benchmarks.runner.process.Meter;
import io.delayqueue.benchmarks.runner.process.Reply;
import io.delayqueue.benchmarks.runner.process.Stage;
import io.delayqueue.benchmarks.runner.process.Usage;
import io.delayqueue.benchmarks.runner.process.Variant;
import io.delayqueue.benchmarks.runner.result.Figure;

/** Sends at a rate while handlers run, and measures their lateness. */
final class PacedMeasure implements Measure {

    private final String name;

    private final String title;

    private final String about;

    private final List<Integer> rates;

    private final int minDelayMillis;

    private final int maxDelayMillis;

    private PacedMeasure(String name, String title, String about, List<Integer> rates, int minDelayMillis,
            int maxDelayMillis) {
        this.name = name;
        this.title = title;
        this.about = about;
        this.rates = rates;
        this.minDelayMillis = minDelayMillis;
        this.maxDelayMillis = maxDelayMillis;
    }

    static Measure lateness() {
        return new PacedMeasure("lateness", "Lateness at a low rate",
                """
                        20 messages a second with random delays between 0.2 and 3 seconds, for half a minute, after ten seconds at \
                        2,000 a second (Rqueue: at 20), so that the code is compiled. Lateness is the time from the due time, as \
                        the sender computes it before it sends, to the handler's first line.""",
                List.of(20), 200, 3000);
    }

    static Measure sustained() {
        return new PacedMeasure("sustained", "Sustained load",
                """
                        Messages of 100 bytes with a delay of 1 second at a steady rate, sent by 16 threads in the JVM that also \
                        handles them. Rqueue is measured at the lowest rate only, and messages that it has not handled half a \
                        minute after the last send are missing.""",
                List.of(1000, 5000, 10_000), 1000, 1000);
    }

    @Override
    public String name() {
        return this.name;
    }

    @Override
    public String title() {
        return this.title;
    }

    @Override
    public String about() {
        return this.about;
    }

    @Override
    public List<Variant> variants(Mode mode) {
        return Variants.peersToo(mode);
    }

    @Override
    public int rounds(Mode mode) {
        return mode.pick(1, 1, 2);
    }

    @Override
    public void measure(Round round) {
        for (int rate : this.rates) {
            if (!round.variant().isRqueue() || rate <= 1000) {
                try (Stage stage = round.open("handlers=16")) {
                    cell(round, stage, rate);
                }
            }
        }
    }

    private void cell(Round round, Stage stage, int rate) {
        stage.call("start");
        // Few messages a second would leave most of the code interpreted for minutes.
        int warmUpRate = round.variant().isRqueue() ? 20 : Math.max(rate, round.mode().pick(20, 1000, 2000));
        pace(stage, warmUpRate, warmUpRate * round.mode().pick(1, 3, 10), 0);
        int count = rate * round.mode().pick(2, (rate < 100) ? 8 : 5, (rate < 100) ? 30 : 15);
        Meter meter = Meter.start(stage);
        double seconds = pace(stage, rate, count, 30_000) / 1e9;
        Usage usage = meter.stop();
        Reply findings = stage.call("findings");
        round.record(new Round.Scenario("%,d/s".formatted(rate), rate),
                new Figures().withLateness(findings).with(Figure.PER_SECOND, count / seconds).with(usage, count),
                findings.delivery(), usage.weather());
    }

    private long pace(Stage stage, int rate, int count, int patienceMillis) {
        stage.call("expect count=%d", count);
        long nanos = stage
            .call("pace count=%d rate=%d threads=16 bytes=100 delayMin=%d delayMax=%d", count, rate,
                    this.minDelayMillis, this.maxDelayMillis)
            .get("nanos");
        stage.call("await millis=%d", Math.max(patienceMillis, 10_000));
        return nanos;
    }

}
