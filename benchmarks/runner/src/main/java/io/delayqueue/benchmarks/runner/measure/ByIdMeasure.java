package io.delayqueue.benchmarks.runner.measure;

import java.util.List;

import io.delayqueue.benchmarks.runner.process.Meter;
import io.delayqueue.benchmarks.runner.process.Reply;
import io.delayqueue.benchmarks.runner.process.Stage;
import io.delayqueue.benchmarks.runner.process.Usage;
import io.delayqueue.benchmarks.runner.process.Variant;
import io.delayqueue.benchmarks.runner.result.Figure;

/** Calls that name a message, while many wait. */
final class ByIdMeasure implements Measure {

    private static final int REPETITIONS = 5;

    @Override
    public String name() {
        return "byId";
    }

    @Override
    public String title() {
        return "Operations by id";
    }

    @Override
    public String about() {
        return """
                One thread finds, reschedules and then cancels messages by their ids, spread evenly over all waiting messages. The \
                peers are not measured: Redisson removes by value with a search, and neither can reschedule. The limit: HGET and \
                ZSCORE, ZADD XX, ZREM and HDEL. Redis is filled once for each size, and the calls are measured five times there.""";
    }

    @Override
    public List<Variant> variants(Mode mode) {
        return Variants.limitAndOurs();
    }

    @Override
    public int rounds(Mode mode) {
        return 1;
    }

    @Override
    public void measure(Round round) {
        try (Stage stage = round.open("handlers=16 ids=number")) {
            load(stage, 10_000);
            for (String call : List.of("find", "reschedule", "cancel")) { // to warm up
                stage.call("call call=%s first=0 step=1 count=%d", call, round.mode().pick(50, 2000, 10_000));
            }
            for (int pending : BacklogMeasure.sizes(round)) {
                for (int repetition = 1; repetition <= round.mode().pick(1, 1, REPETITIONS); repetition++) {
                    if (repetition == 1 || pending <= REPETITIONS * count(round, pending)) {
                        load(stage, pending);
                    }
                    for (String call : List.of("find", "reschedule", "cancel")) {
                        cell(round.repetition(repetition), stage, call, pending);
                    }
                }
            }
        }
    }

    private static void load(Stage stage, int pending) {
        stage.flush();
        long now = System.currentTimeMillis();
        stage.call("bulk count=%d bytes=100 tracked=no dueFrom=%d dueTo=%d", pending, now + 7_200_000,
                now + 93_600_000);
        stage.awaitQuiet();
    }

    /** Returns the calls of a cell: for ten seconds, if there are messages enough. */
    private static int count(Round round, int pending) {
        return round.mode().pick(50, 2000, (pending < 1_000_000) ? 10_000 : 100_000);
    }

    private static void cell(Round round, Stage stage, String call, int pending) {
        int count = count(round, pending);
        int step = pending / count;
        Meter meter = Meter.start(stage);
        Reply reply = stage.call("call call=%s first=%d step=%d count=%d", call, round.number() % step, step, count);
        Usage usage = meter.stop();
        round.record(new Round.Scenario("%s, %,d pending".formatted(call, pending), pending),
                new Figures().with(Figure.PER_SECOND, count / (reply.get("nanos") / 1e9))
                    .with(usage, count)
                    .with(Figure.HITS, reply.get("hits") / (double) count),
                null, usage.weather());
    }

}
