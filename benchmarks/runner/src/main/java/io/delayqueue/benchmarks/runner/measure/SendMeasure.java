package io.delayqueue.benchmarks.runner.measure;

import java.util.List;

import io.delayqueue.benchmarks.runner.process.Meter;
import io.delayqueue.benchmarks.runner.process.Reply;
import io.delayqueue.benchmarks.runner.process.Stage;
import io.delayqueue.benchmarks.runner.process.Usage;
import io.delayqueue.benchmarks.runner.process.Variant;
import io.delayqueue.benchmarks.runner.result.Delivery;
import io.delayqueue.benchmarks.runner.result.Figure;

/** Sends one by one, each thread waiting for its answer. */
final class SendMeasure implements Measure {

    private static final String LOAD = "threads=%d bytes=%d delayMin=%d";

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
                Each thread sends a message, waits until Redis has it, and sends the next, for twelve seconds. No message is \
                handled meanwhile; afterwards all are handled, for the delivery check, but not those of Rqueue, which would take \
                minutes. The limit runs a script of HSET and ZADD, through Lettuce; `socket` runs the same script through a blocking \
                socket without a client library. DelayQueue is also measured with 2, 4 and 64 threads.""";
    }

    @Override
    public List<Variant> variants(Mode mode) {
        return Variants.senders(mode);
    }

    @Override
    public void measure(Round round) {
        try (Stage stage = round.open("handlers=16")) {
            for (int threads : threads(round)) {
                for (int bytes : (threads == 1 || threads == 16) ? List.of(100, 1024) : List.of(100)) {
                    cell(round, stage, threads, bytes);
                }
            }
        }
    }

    private static List<Integer> threads(Round round) {
        if (round.variant().equals(Variant.SOCKET)) {
            return List.of(1);
        }
        return (round.variant().isOurs() && round.mode() != Mode.SMOKE) ? List.of(1, 2, 4, 16, 64) : List.of(1, 16);
    }

    private static void cell(Round round, Stage stage, int threads, int bytes) {
        stage.call("expect count=0");
        double perMilli = round.warmUp(stage, () -> {
            Reply sent = stage.call("warm millis=%d " + LOAD, round.mode().pick(100, 1000, 2000), threads, bytes, HOUR);
            stage.flush();
            return sent.get("sent") / (sent.get("nanos") / 1e6);
        });
        int messages = (int) (perMilli * round.mode().pick(100, 2000, 12_000)) + 1;
        boolean checked = !round.variant().isRqueue();
        stage.call("expect count=%d", messages);
        int delay = checked ? round.mode().pick(1000, 4000, 16_000) : HOUR;
        Meter meter = Meter.start(stage);
        long nanos = stage.call("send count=%d " + LOAD, messages, threads, bytes, delay).get("nanos");
        Usage usage = meter.stop();
        Delivery delivery = checked ? handled(stage) : null;
        stage.flush();
        round.record(
                new Round.Scenario("%d %s, %s".formatted(threads, (threads == 1) ? "thread" : "threads",
                        (bytes == 100) ? "100 B" : "1 KiB"), threads),
                new Figures().with(Figure.PER_SECOND, messages / (nanos / 1e9)).with(usage, messages), delivery,
                usage.weather());
    }

    private static Delivery handled(Stage stage) {
        stage.call("start");
        stage.call("await millis=%d", 180_000);
        Reply findings = stage.call("findings");
        stage.call("stop");
        return findings.delivery();
    }

}
