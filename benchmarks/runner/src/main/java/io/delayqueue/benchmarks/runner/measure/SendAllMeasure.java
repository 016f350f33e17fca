package io.delayqueue.benchmarks.runner.measure;

import java.util.List;

import io.delayqueue.benchmarks.runner.process.Meter;
import io.delayqueue.benchmarks.runner.process.Stage;
import io.delayqueue.benchmarks.runner.process.Usage;
import io.delayqueue.benchmarks.runner.process.Variant;
import io.delayqueue.benchmarks.runner.result.Delivery;
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
                One thread sends messages of 100 bytes in bulk, for about ten seconds: DelayQueue by `sendAll` with 10,000 at a time, \
                the limit by scripts for 100 messages each, of which 8 are on their way, Redisson by `offerAsync` of 10,000, and \
                Rqueue, which has no such call, by 16 threads. All messages are handled afterwards, for the delivery check, but not \
                those of Rqueue.""";
    }

    @Override
    public List<Variant> variants(Mode mode) {
        return Variants.senders(mode).stream().filter((variant) -> !variant.equals(Variant.SOCKET)).toList();
    }

    @Override
    public void measure(Round round) {
        boolean checked = !round.variant().isRqueue();
        try (Stage stage = round.open("handlers=16")) {
            int part = round.mode().pick(1000, 20_000, 200_000)
                    / (round.variant().isRqueue() ? 20 : round.variant().isRedisson() ? 4 : 1);
            double perSecond = round.warmUp(stage, () -> {
                long now = System.currentTimeMillis();
                long nanos = stage.call("bulk count=%d bytes=100 tracked=no dueFrom=%d", part, now + 3_600_000)
                    .get("nanos");
                stage.flush();
                return part / (nanos / 1e9);
            });
            int messages = (round.mode() != Mode.FULL) ? part : (int) (11 * perSecond);
            stage.call("expect count=%d", messages);
            long due = System.currentTimeMillis() + (checked ? round.mode().pick(1000, 3000, 25_000) : 3_600_000);
            Meter meter = Meter.start(stage);
            // In the order of their due times, or Redisson would search each in a list.
            long nanos = stage
                .call("bulk count=%d bytes=100 dueFrom=%d dueTo=%d spread=even", messages, due,
                        due + round.mode().pick(100, 1000, 10_000))
                .get("nanos");
            Usage usage = meter.stop();
            Delivery delivery = null;
            if (checked) {
                stage.call("start");
                stage.call("await millis=%d", 180_000);
                delivery = stage.call("findings").delivery();
            }
            round.record(new Round.Scenario("100 B", 100),
                    new Figures().with(Figure.PER_SECOND, messages / (nanos / 1e9)).with(usage, messages), delivery,
                    usage.weather());
        }
    }

}
