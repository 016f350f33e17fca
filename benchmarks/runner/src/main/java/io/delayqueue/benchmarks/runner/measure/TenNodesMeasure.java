package io.delayqueue.benchmarks.runner.measure;

import java.util.ArrayList;
import java.util.List;

import io.delayqueue.benchmarks.runner.process.ClaimCount;
import io.delayqueue.benchmarks.runner.process.ContenderProcess;
import io.delayqueue.benchmarks.runner.process.Meter;
import io.delayqueue.benchmarks.runner.process.Pause;
import io.delayqueue.benchmarks.runner.process.Reply;
import io.delayqueue.benchmarks.runner.process.Stage;
import io.delayqueue.benchmarks.runner.process.Usage;
import io.delayqueue.benchmarks.runner.process.Variant;
import io.delayqueue.benchmarks.runner.result.Figure;

/** Many nodes at one queue in which little happens. */
final class TenNodesMeasure implements Measure {

    private static final String[] SMALL = { "-Xms64m", "-Xmx256m" };

    @Override
    public String name() {
        return "tenNodes";
    }

    @Override
    public String title() {
        return "Ten nodes";
    }

    @Override
    public String about() {
        return """
                Ten JVMs listen to one queue, to which one of them sends a message a second with a delay of one second. Claims are \
                counted with MONITOR: scripts that search for leases that ran out. The percentiles are those of the node with the \
                greatest.""";
    }

    @Override
    public List<Variant> variants(Mode mode) {
        return (mode != Mode.FULL) ? List.of(Variant.OURS)
                : List.of(Variant.OURS, Variant.REDISSON, Variant.REDISSON_TUNED, Variant.RQUEUE, Variant.RQUEUE_TUNED);
    }

    @Override
    public int rounds(Mode mode) {
        return 1;
    }

    @Override
    public void measure(Round round) {
        int nodes = round.mode().pick(2, 5, 10);
        int messages = round.mode().pick(2, 15, 60);
        try (Stage stage = round.workshop().stage(round.variant())) {
            for (int i = 0; i < nodes; i++) {
                stage.add("handlers=16", SMALL);
            }
            SharedCounts warmUp = SharedCounts.create(round.workshop().scratch(), 5);
            for (ContenderProcess node : stage.processes()) {
                node.call(warmUp.expect());
                node.call("start");
            }
            send(stage, warmUp, 5);
            // Real time: the contenders come to rest after the warm-up.
            Pause.millis(round.mode().pick(500, 3000, 6000));
            SharedCounts counts = SharedCounts.create(round.workshop().scratch(), messages);
            stage.processes().forEach((node) -> node.call(counts.expect()));
            try (ClaimCount claims = ClaimCount.start(stage.redis().port())) {
                Meter meter = Meter.start(stage);
                send(stage, counts, messages);
                Usage usage = meter.stop();
                record(round, stage, counts, usage, new Share(claims.claims(), nodes, messages));
            }
        }
    }

    private static void send(Stage stage, SharedCounts counts, int messages) {
        stage.call("pace count=%d rate=1 threads=1 bytes=100 delayMin=1000", messages);
        for (int i = 0; i < 150 && counts.lost() > 0; i++) {
            // Real time: the contenders are other processes.
            Pause.millis(100);
        }
    }

    private static void record(Round round, Stage stage, SharedCounts counts, Usage usage, Share share) {
        List<Reply> findings = new ArrayList<>();
        stage.processes().forEach((node) -> findings.add(node.call("findings")));
        Figures figures = new Figures().with(Figure.P50, worst(findings, "p50Micros"))
            .with(Figure.P99, worst(findings, "p99Micros"))
            .with(Figure.MAX, worst(findings, "maxMicros"));
        if (!round.variant().isPeer()) {
            if (share.claims() < share.messages()) {
                throw new IllegalStateException("Only %d claims were seen for %d messages: they look different now"
                    .formatted(share.claims(), share.messages()));
            }
            figures.with(Figure.CLAIMS, share.claims() / (double) share.messages());
        }
        figures.with(Figure.SCRIPTS, usage.scripts() / (double) share.messages()).with(usage, share.messages());
        long early = findings.stream().mapToLong((reply) -> reply.get("early")).sum();
        round.record(new Round.Scenario("%d nodes, 1/s".formatted(share.nodes()), share.nodes()), figures,
                counts.delivery(early, findings.stream().mapToLong((reply) -> reply.get("earlyByAMilli")).sum(),
                        findings.stream().mapToLong((reply) -> reply.get("earliestMicros")).max().orElse(0)),
                usage.weather());
    }

    private static double worst(List<Reply> findings, String name) {
        return findings.stream().mapToDouble((reply) -> reply.millis(name)).max().orElse(0);
    }

    private record Share(long claims, int nodes, int messages) {
    }

}
