package io.delayqueue.benchmarks.runner.measure;

import java.util.List;

import io.delayqueue.benchmarks.runner.process.Meter;
import io.delayqueue.benchmarks.runner.process.Reply;
import io.delayqueue.benchmarks.runner.process.Stage;
import io.delayqueue.benchmarks.runner.process.Usage;
import io.delayqueue.benchmarks.runner.process.Variant;
import io.delayqueue.benchmarks.runner.result.Figure;

/** Sends many at a time. */
final class SendAllMeasure implements Measure {

    @Override
    public String name() {
        return "sendAll";
    }

    @Override
    public String title() {
        return "Batch sends";
    }

    @Override
    public String about() {
        return """
                One thread sends messages of 100 bytes in bulk: DelayQueue by `sendAll` with 10,000 at a time, the limit by \
                pipelining HSET and ZADD for 500 messages, Redisson by `offerAsync` of 10,000, and Rqueue, which has no such call, by \
                16 threads. All messages are handled afterwards, for the delivery check.""";
    }

    @Override
    public List<Variant> variants(Mode mode) {
        return (mode == Mode.SMOKE) ? Variants.peersToo(mode)
                : List.of(Variant.LIMIT, Variant.OURS, Variant.REDISSON, Variant.RQUEUE_TUNED);
    }

    @Override
    public void measure(Round round) {
        int messages = round.mode().pick(1000, 20_000, 150_000)
                / (round.variant().isRqueue() ? 40 : round.variant().isRedisson() ? 2 : 1);
        try (Stage stage = round.open("handlers=16")) {
            String bulk = "bulk count=%d bytes=100 dueFrom=%d";
            for (int i = 0; i < 2; i++) {
                stage.call(bulk + " tracked=no", messages, System.currentTimeMillis() + 3_600_000);
                stage.flush();
            }
            stage.call("expect count=%d", messages);
            long due = System.currentTimeMillis() + round.mode().pick(1000, 3000, 6000);
            Meter meter = Meter.start(stage);
            long nanos = stage.call(bulk, messages, due).get("nanos");
            Usage usage = meter.stop();
            stage.call("start");
            stage.call("await millis=%d", 120_000);
            Reply findings = stage.call("findings");
            round.record(new Round.Scenario("100 B", 100),
                    new Figures().with(Figure.PER_SECOND, messages / (nanos / 1e9)).with(usage, messages),
                    findings.delivery(), usage.weather());
        }
    }

}
