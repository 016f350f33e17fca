package io.delayqueue.benchmarks.runner.measure;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import io.delayqueue.benchmarks.runner.process.Stage;
import io.delayqueue.benchmarks.runner.process.Variant;
import io.delayqueue.benchmarks.runner.result.Figure;

/** Measures the CPU of the application per message, and profiles it. */
final class CpuMeasure implements Measure {

    @Override
    public String name() {
        return "cpu";
    }

    @Override
    public String title() {
        return "CPU of the application";
    }

    @Override
    public String about() {
        return """
                The drain, several times in one JVM under a flight recording, which costs a few percent. The figure is the CPU of \
                the whole JVM per handled message; the notes list the ten methods that were most often on top of the stack, without \
                garbage collection and native code.""";
    }

    @Override
    public List<Variant> variants(Mode mode) {
        return (mode != Mode.FULL) ? List.of(Variant.OURS, Variant.REDISSON_TUNED) : List.of(Variant.LIMIT_LEASED,
                Variant.OURS, Variant.REDISSON_TUNED, Variant.RQUEUE, Variant.RQUEUE_TUNED);
    }

    @Override
    public int rounds(Mode mode) {
        return 1;
    }

    @Override
    public void measure(Round round) {
        int messages = round.variant().isRqueue()
                ? round.mode().pick(50, 1000, round.variant().equals(Variant.RQUEUE) ? 500 : 5000)
                : round.mode().pick(500, 20_000, 500_000);
        int times = round.mode().pick(1, 2, 5);
        Path recording = round.workshop().scratch().resolve("profile-" + System.nanoTime() + ".jfr");
        List<DrainMeasure.Span> spans = new ArrayList<>();
        DrainMeasure.Drain last;
        double jvmMicros = 0;
        double redisMicros = 0;
        try (Stage stage = round.workshop().stage(round.variant())) {
            stage.add("handlers=16", "-Xlog:disable",
                    "-XX:StartFlightRecording=settings=profile,filename=" + recording);
            last = DrainMeasure.drain(stage, messages, 100); // to warm up
            for (int i = 0; i < times; i++) {
                last = DrainMeasure.drain(stage, messages, 100);
                spans.add(last.span());
                jvmMicros += last.usage().jvmMicros() / last.handled() / times;
                redisMicros += last.usage().redisMicros() / last.handled() / times;
            }
        }
        round.record(new Round.Scenario("drain, 100 B", 100),
                new Figures().with(Figure.JVM_MICROS, jvmMicros).with(Figure.REDIS_MICROS, redisMicros),
                last.delivery(), last.usage().weather(), Profile.topTen(recording, spans));
    }

}
