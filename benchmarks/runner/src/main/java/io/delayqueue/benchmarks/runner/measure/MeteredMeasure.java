package io.delayqueue.benchmarks.runner.measure;

import java.util.List;

import io.delayqueue.benchmarks.runner.process.Stage;
import io.delayqueue.benchmarks.runner.process.Variant;
import io.delayqueue.benchmarks.runner.result.Figure;

/** What meters and observations cost. */
final class MeteredMeasure implements Measure {

    @Override
    public String name() {
        return "metered";
    }

    @Override
    public String about() {
        return """
                The drain once more, with nobody counting, with meters and observations by a Prometheus registry, and \
                with Boot's observation of every command of Redis on top, which is on unless it is excluded. The \
                handler does nothing, so this is the most that they can cost.""";
    }

    @Override
    public List<Variant> variants(Mode mode) {
        return List.of(Variant.OURS, Variant.OURS_METERED, Variant.OURS_ALL_METERED);
    }

    @Override
    public void measure(Round round) {
        int messages = round.mode().pick(1000, 50_000, 400_000);
        try (Stage stage = round.open("handlers=16")) {
            DrainMeasure.drain(stage, messages, 100); // to warm up
            DrainMeasure.Drain drain = DrainMeasure.drain(stage, messages, 100);
            round.record(new Round.Scenario("100 B", 100),
                    new Figures().with(Figure.PER_SECOND, drain.handled() / drain.seconds())
                        .with(drain.usage(), drain.handled()),
                    drain.delivery(), drain.usage().weather());
        }
    }

}
