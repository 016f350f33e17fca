package io.delayqueue.benchmarks.runner.measure;

import java.util.List;

import io.delayqueue.benchmarks.runner.process.Stage;
import io.delayqueue.benchmarks.runner.process.Variant;
import io.delayqueue.benchmarks.runner.result.Figure;

/** Measures the cost of meters and observations. */
final class MeteredMeasure implements Measure {

    @Override
    public String name() {
        return "metered";
    }

    @Override
    public String title() {
        return "Cost of meters and observations";
    }

    @Override
    public String about() {
        return """
                The drain without meters, with meters and observations by a Prometheus registry, and additionally with Boot's \
                observation of every Redis command, which is on unless it is excluded. The handler does nothing, so this is the \
                greatest possible cost.""";
    }

    @Override
    public List<Variant> variants(Mode mode) {
        return List.of(Variant.OURS, Variant.OURS_METERED, Variant.OURS_ALL_METERED);
    }

    @Override
    public void measure(Round round) {
        int messages = round.mode().pick(1000, 50_000, 1_000_000);
        try (Stage stage = round.open("handlers=16")) {
            round.warmUp(stage, () -> DrainMeasure.drain(stage, Math.min(messages, 200_000), 100));
            DrainMeasure.Drain drain = DrainMeasure.drain(stage, messages, 100);
            round.record(new Round.Scenario("100 B", 100),
                    new Figures().with(Figure.PER_SECOND, drain.handled() / drain.seconds())
                        .with(drain.usage(), drain.handled()),
                    drain.delivery(), drain.usage().weather());
        }
    }

}
