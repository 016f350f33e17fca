package io.delayqueue.benchmarks.runner.measure;

import java.time.Instant;
import java.util.List;

import io.delayqueue.benchmarks.runner.process.Meter;
import io.delayqueue.benchmarks.runner.process.Pause;
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
                acknowledged**. The handler does nothing. The limit takes and deletes a hundred at a time in one thread, with two \
                claims on their way; `limit-leased` leases and acknowledges them, the least that a queue can do that redelivers. \
                Redisson acknowledges nothing. Its clock starts when the messages are due, within a second and in the order in which \
                they were sent, so that their transfer to its list is counted; tuned, its handlers take up to a hundred by `poll(n)`. \
                `delayqueue-defaults` has 10 handlers, all others 16. Messages that Rqueue does not handle within the time limit are \
                missing, and its rate counts the handled ones.""";
    }

    @Override
    public List<Variant> variants(Mode mode) {
        return (mode == Mode.SMOKE) ? List.of(Variant.LIMIT, Variant.OURS, Variant.REDISSON_TUNED)
                : List.of(Variant.LIMIT, Variant.LIMIT_LEASED, Variant.OURS, Variant.OURS_DEFAULTS, Variant.REDISSON,
                        Variant.REDISSON_TUNED, Variant.RQUEUE, Variant.RQUEUE_TUNED);
    }

    @Override
    public int rounds(Mode mode, Variant variant) {
        return variant.equals(Variant.RQUEUE) ? 1 : rounds(mode);
    }

    @Override
    public void measure(Round round) {
        try (Stage stage = round.open(round.variant().equals(Variant.OURS_DEFAULTS) ? "" : "handlers=16")) {
            for (int bytes : List.of(100, 1024)) {
                int messages = messages(round, bytes);
                int part = Math.min(messages, 200_000) / (round.variant().isRqueue() ? 4 : bytes / 100);
                round.warmUp(stage, () -> drain(stage, part, bytes));
                Drain drain = drain(stage, messages, bytes);
                round.record(new Round.Scenario((bytes == 100) ? "100 B" : "1 KiB", bytes),
                        new Figures().with(Figure.PER_SECOND, drain.handled() / drain.seconds())
                            .with(drain.usage(), drain.handled()),
                        drain.delivery(), drain.usage().weather());
            }
        }
    }

    /** Returns how many take about ten seconds, or some minutes with Rqueue. */
    private static int messages(Round round, int bytes) {
        Variant variant = round.variant();
        if (variant.isRqueue()) {
            return variant.equals(Variant.RQUEUE) ? round.mode().pick(50, 300, 1000)
                    : round.mode().pick(50, 1000, 10_000);
        }
        boolean floor = variant.equals(Variant.LIMIT) || variant.equals(Variant.LIMIT_LEASED);
        int full = floor ? 2_500_000 : (variant.isRedisson() && bytes > 100) ? 300_000 : 1_000_000;
        return round.mode().pick(1000, 20_000, full);
    }

    /** Sends, handles and acknowledges a number of messages that are due at once. */
    static Drain drain(Stage stage, int messages, int bytes) {
        stage.flush();
        stage.call("expect count=%d", messages);
        return stage.variant().isRedisson() ? drainAsDue(stage, messages, bytes) : drainBacklog(stage, messages, bytes);
    }

    private static Drain drainBacklog(Stage stage, int messages, int bytes) {
        long now = System.currentTimeMillis();
        stage.call("bulk count=%d bytes=%d dueFrom=%d dueTo=%d spread=even", messages, bytes, now - 2000, now - 1000);
        stage.awaitQuiet();
        Instant begun = Instant.now();
        Meter meter = Meter.start(stage);
        long start = stage.call("start").get("at");
        Reply end = stage.call("await millis=%d", 240_000);
        Usage usage = meter.stop();
        long handled = end.get("handled");
        long until = (handled < messages) ? end.get("lastAt") : end.get("settledAt");
        return ended(stage, handled, (until - start) / 1e9, new Span(begun, Instant.now()), usage);
    }

    /**
     * Drains messages that become due within a second, from then on: Redisson moves them
     * whether there are handlers or not.
     */
    private static Drain drainAsDue(Stage stage, int messages, int bytes) {
        long due = System.currentTimeMillis() + 2000 + messages / 10;
        stage.call("bulk count=%d bytes=%d dueFrom=%d dueTo=%d spread=even", messages, bytes, due, due + 1000);
        stage.call("start");
        long wait = due - 50 - System.currentTimeMillis();
        if (wait < 0) {
            throw new IllegalStateException("The messages became due before all were sent, %d ms ago".formatted(-wait));
        }
        // Real time: the meter starts shortly before the messages are due.
        Pause.millis(wait);
        Instant begun = Instant.now();
        Meter meter = Meter.start(stage);
        Reply end = stage.call("await millis=%d", 240_000);
        Usage usage = meter.stop();
        return ended(stage, end.get("handled"), end.get("settledMicros") / 1e6 - due / 1e3,
                new Span(begun, Instant.now()), usage);
    }

    private static Drain ended(Stage stage, long handled, double seconds, Span span, Usage usage) {
        Reply findings = stage.call("findings");
        stage.flush();
        stage.call("stop");
        return new Drain(handled, seconds, span, usage, findings.delivery());
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
