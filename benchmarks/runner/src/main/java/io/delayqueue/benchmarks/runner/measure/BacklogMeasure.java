package io.delayqueue.benchmarks.runner.measure;

import java.util.List;

import io.delayqueue.benchmarks.runner.process.Meter;
import io.delayqueue.benchmarks.runner.process.Reply;
import io.delayqueue.benchmarks.runner.process.Stage;
import io.delayqueue.benchmarks.runner.process.Usage;
import io.delayqueue.benchmarks.runner.process.Variant;
import io.delayqueue.benchmarks.runner.result.Figure;

/** Measures the cost of a message in Redis while many others wait. */
final class BacklogMeasure implements Measure {

    @Override
    public String name() {
        return "backlog";
    }

    @Override
    public String title() {
        return "Cost by pending messages";
    }

    @Override
    public String about() {
        return """
                Messages of 100 bytes wait with random due times within a day. More are sent in bulk with random due times within \
                ten seconds, and the handlers take them as they become due. The cost of sending and that of handing over, polls \
                that find nothing included, are counted separately; that of Redisson's transfers belongs to handing over. Redisson is \
                measured up to 1M, Rqueue up to 100k. The largest size of each contender is measured once.""";
    }

    @Override
    public List<Variant> variants(Mode mode) {
        return Variants.peersToo(mode);
    }

    @Override
    public void measure(Round round) {
        try (Stage stage = round.open("handlers=16")) {
            DrainMeasure.drain(stage, messages(round, 10_000), 100); // to warm up
            for (int pending : sizes(round)) {
                cell(round, stage, pending);
            }
        }
    }

    /** The largest of each contender takes minutes to fill, so it has one round. */
    static List<Integer> sizes(Round round) {
        int most = round.variant().isRqueue() ? 100_000 : round.variant().isRedisson() ? 1_000_000 : 10_000_000;
        return sizes(round.mode()).stream()
            .filter((pending) -> pending < most || (pending == most && round.number() == 1))
            .toList();
    }

    private static List<Integer> sizes(Mode mode) {
        return switch (mode) {
            case SMOKE -> List.of(1000);
            case QUICK -> List.of(10_000, 100_000);
            case FULL -> List.of(10_000, 100_000, 1_000_000, 10_000_000);
        };
    }

    /** The peers would take hours with as many as the others need for a steady figure. */
    private static int messages(Round round, int pending) {
        if (round.variant().isRqueue()) {
            return round.mode().pick(50, 200, 300);
        }
        if (round.variant().isRedisson()) {
            return Math.min(round.mode().pick(200, 1000, 5000), 100_000_000 / pending);
        }
        return round.mode().pick(200, 5000, 200_000);
    }

    private static void cell(Round round, Stage stage, int pending) {
        stage.flush();
        long now = System.currentTimeMillis();
        stage.call("bulk count=%d bytes=100 tracked=no dueFrom=%d dueTo=%d", pending, now + 7_200_000,
                now + 93_600_000);
        stage.awaitQuiet();
        int messages = messages(round, pending);
        stage.call("expect count=%d", messages);
        long from = System.currentTimeMillis() + 2000;
        Meter sending = Meter.start(stage);
        long nanos = stage.call("bulk count=%d bytes=100 dueFrom=%d dueTo=%d", messages, from, from + 10_000)
            .get("nanos");
        Usage send = sending.stop();
        Meter handing = Meter.start(stage);
        stage.call("start");
        stage.call("await millis=%d", 180_000);
        Usage handOver = handing.stop();
        Reply findings = stage.call("findings");
        stage.call("stop");
        round.record(new Round.Scenario("send, %,d pending".formatted(pending), pending),
                new Figures().with(Figure.PER_SECOND, messages / (nanos / 1e9)).with(send, messages), null,
                send.weather());
        round.record(new Round.Scenario("hand over, %,d pending".formatted(pending), pending),
                new Figures().with(handOver, messages), findings.delivery(), handOver.weather());
    }

}
