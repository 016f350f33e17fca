package io.delayqueue.benchmarks.runner.measure;

import java.util.ArrayList;
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
                        20 messages a second with random delays between 0.2 and 3 seconds, for a minute, after bursts at 2,000 a \
                        second (Rqueue: at 20), so that the code is compiled. Messages are sent at random times, as by independent \
                        senders, the same for all contenders. The percentiles are those of the difference between the due time, as \
                        the sender computes it before it sends, and the handler's first line, whether the handler is late or early. \
                        `timer` is a thread of a JVM that sleeps until a message is due, without Redis; the due times of `timer-ms` \
                        are rounded up to milliseconds, as those of any queue that stores milliseconds.""",
                List.of(20), 200, 3000);
    }

    static Measure sustained() {
        return new PacedMeasure("sustained", "Sustained load",
                """
                        Messages of 100 bytes with a delay of 1 second for a minute, sent at random times with a mean rate by 16 \
                        threads in the JVM that also handles them. Percentiles and `timer` are those of the lateness at a low rate. \
                        Rqueue is measured at the lowest rate only, for 15 seconds, and messages that it has not handled half a minute \
                        after the last send are missing.""",
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
        List<Variant> variants = new ArrayList<>(List.of(Variant.TIMER, Variant.TIMER_MILLIS));
        variants.addAll(Variants.peersToo(mode));
        return variants;
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
        boolean slow = round.variant().isRqueue();
        int warmUpRate = slow ? 20 : Math.max(rate, round.mode().pick(20, 1000, 2000));
        round.warmUp(stage, () -> pace(stage, warmUpRate, warmUpRate * round.mode().pick(1, 3, slow ? 10 : 5), 0));
        int count = rate * round.mode().pick(2, (rate < 100) ? 8 : 5, (slow && rate >= 100) ? 15 : 60);
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
