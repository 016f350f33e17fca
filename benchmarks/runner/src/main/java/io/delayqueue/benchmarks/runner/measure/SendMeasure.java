package io.delayqueue.benchmarks.runner.measure;

import java.util.List;

import io.delayqueue.benchmarks.runner.process.Meter;
import io.delayqueue.benchmarks.runner.process.Reply;
import io.delayqueue.benchmarks.runner.process.Stage;
import io.delayqueue.benchmarks.runner.process.Usage;
import io.delayqueue.benchmarks.runner.process.Variant;
import io.delayqueue.benchmarks.runner.result.Figure;

/** Sends one by one, each thread waiting for its answer. */
final class SendMeasure implements Measure {

    private static final String SEND = "send count=%d threads=%d bytes=%d delayMin=%d";

    private static final int HOUR = 3_600_000;

    @Override
    public String name() {
        return "send";
    }

    @Override
    public String title() {
        return "Sends one by one";
    }

    @Override
    public String about() {
        return """
                Each thread sends a message, waits until Redis has it, and sends the next. No message is handled meanwhile; \
                afterwards all are handled, for the delivery check. The limit pipelines HSET and ZADD and waits for both.""";
    }

    @Override
    public List<Variant> variants(Mode mode) {
        return (mode == Mode.SMOKE) ? List.of(Variant.LIMIT, Variant.OURS, Variant.REDISSON)
                : List.of(Variant.LIMIT, Variant.OURS, Variant.REDISSON, Variant.RQUEUE_TUNED);
    }

    @Override
    public void measure(Round round) {
        try (Stage stage = round.open("handlers=16")) {
            int count = round.mode().pick(300, 10_000, 40_000);
            stage.call("expect count=0");
            stage.call(SEND, round.variant().isRqueue() ? count / 15 : count, 16, 100, HOUR); // to
                                                                                              // warm
                                                                                              // up
            for (int threads : List.of(1, 16)) {
                for (int bytes : List.of(100, 1024)) {
                    int messages = count / (round.variant().isRqueue() ? 15 : (threads == 1) ? 3 : 1);
                    cell(round, stage, threads, bytes, messages);
                }
            }
        }
    }

    private static void cell(Round round, Stage stage, int threads, int bytes, int messages) {
        stage.call("expect count=0");
        stage.call(SEND, messages / 2, threads, bytes, HOUR); // to warm up
        stage.flush();
        stage.call("expect count=%d", messages);
        Meter meter = Meter.start(stage);
        long nanos = stage.call(SEND, messages, threads, bytes, round.mode().pick(1000, 3000, 4000)).get("nanos");
        Usage usage = meter.stop();
        stage.call("start");
        stage.call("await millis=%d", 120_000);
        Reply findings = stage.call("findings");
        stage.call("stop");
        stage.flush();
        round.record(
                new Round.Scenario("%d %s, %s".formatted(threads, (threads == 1) ? "thread" : "threads",
                        (bytes == 100) ? "100 B" : "1 KiB"), threads),
                new Figures().with(Figure.PER_SECOND, messages / (nanos / 1e9)).with(usage, messages),
                findings.delivery(), usage.weather());
    }

}
