package io.delayqueue.benchmarks.runner.measure;

import java.time.Instant;
import java.util.List;

import io.delayqueue.benchmarks.runner.process.Meter;
import io.delayqueue.benchmarks.runner.process.Reply;
import io.delayqueue.benchmarks.runner.process.Stage;
import io.delayqueue.benchmarks.runner.process.Usage;
import io.delayqueue.benchmarks.runner.process.Variant;
import io.delayqueue.benchmarks.runner.result.Delivery;
import io.delayqueue.benchmarks.runner.result.Figure;

/** Handles a backlog that is due already. */
final class DrainMeasure implements Measure {

    @Override
    public String name() {
        return "drain";
    }

    @Override
    public String title() {
        return "Draining a backlog";
    }

    @Override
    public String about() {
        return """
                The handlers start on a backlog of due messages, and the clock stops when the last one is handled **and \
                acknowledged**. The handler does nothing. The limit takes and deletes a hundred at a time in one thread. Redisson \
                acknowledges nothing, and has moved the messages to its list before the clock starts. `delayqueue-defaults` has 10 \
                handlers, all others 16. Messages that Rqueue does not handle within the time limit are missing, and its rate counts \
                the handled ones.""";
    }

    @Override
    public List<Variant> variants(Mode mode) {
        return (mode == Mode.SMOKE) ? List.of(Variant.LIMIT, Variant.OURS, Variant.REDISSON) : List.of(Variant.LIMIT,
                Variant.OURS, Variant.OURS_DEFAULTS, Variant.REDISSON, Variant.RQUEUE, Variant.RQUEUE_TUNED);
    }

    @Override
    public void measure(Round round) {
        Variant variant = round.variant();
        int messages = variant.equals(Variant.RQUEUE) ? round.mode().pick(50, 300, 1000)
                : variant.isRqueue() ? round.mode().pick(50, 1000, 3000) : round.mode().pick(1000, 20_000, 100_000);
        try (Stage stage = round.open(variant.equals(Variant.OURS_DEFAULTS) ? "" : "handlers=16")) {
            for (int bytes : List.of(100, 1024)) {
                drain(stage, variant.isRqueue() ? 50 : messages, bytes); // to warm up
                Drain drain = drain(stage, messages, bytes);
                round.record(new Round.Scenario((bytes == 100) ? "100 B" : "1 KiB", bytes),
                        new Figures().with(Figure.PER_SECOND, drain.handled() / drain.seconds())
                            .with(drain.usage(), drain.handled()),
                        drain.delivery(), drain.usage().weather());
            }
        }
    }

    /** Sends, handles and acknowledges a number of messages that are due at once. */
    static Drain drain(Stage stage, int messages, int bytes) {
        stage.flush();
        stage.call("expect count=%d", messages);
        long now = System.currentTimeMillis();
        stage.call("bulk count=%d bytes=%d dueFrom=%d dueTo=%d", messages, bytes, now - 2000, now - 1000);
        stage.awaitQuiet();
        Instant begun = Instant.now();
        Meter meter = Meter.start(stage);
        long start = stage.call("start").get("at");
        Reply end = stage.call("await millis=%d", 60_000);
        Usage usage = meter.stop();
        Span span = new Span(begun, Instant.now());
        Reply findings = stage.call("findings");
        stage.flush();
        stage.call("stop");
        long handled = end.get("handled");
        long until = (handled < messages) ? end.get("lastAt") : end.get("settledAt");
        return new Drain(handled, (until - start) / 1e9, span, usage, findings.delivery());
    }

    /**
     * Holds the result of a drain.
     *
     * @param handled messages handled in time
     * @param seconds from the start of the handlers to the last acknowledgement
     * @param span when the handlers were at work
     * @param usage what it cost
     * @param delivery the delivery check
     */
    record Drain(long handled, double seconds, Span span, Usage usage, Delivery delivery) {
    }

    /**
     * Holds the start and the end of a drain.
     */
    record Span(Instant from, Instant to) {

        boolean contains(Instant moment) {
            return moment.isAfter(this.from) && moment.isBefore(this.to);
        }

    }

}
