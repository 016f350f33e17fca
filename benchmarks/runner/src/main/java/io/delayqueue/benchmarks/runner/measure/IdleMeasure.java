package io.delayqueue.benchmarks.runner.measure;

import java.util.List;

import io.delayqueue.benchmarks.runner.process.ContenderProcess;
import io.delayqueue.benchmarks.runner.process.Meter;
import io.delayqueue.benchmarks.runner.process.Pause;
import io.delayqueue.benchmarks.runner.process.Stage;
import io.delayqueue.benchmarks.runner.process.Usage;
import io.delayqueue.benchmarks.runner.process.Variant;
import io.delayqueue.benchmarks.runner.result.Figure;

/** Measures the cost of idle queues. */
final class IdleMeasure implements Measure {

    /** Ten JVMs must fit. */
    private static final String[] SMALL = { "-Xms64m", "-Xmx256m" };

    @Override
    public String name() {
        return "idle";
    }

    @Override
    public String title() {
        return "Idle queues";
    }

    @Override
    public String about() {
        return """
                Each queue holds one message that is due in an hour, with 4 handlers per queue in each node. A node is a JVM. The \
                peers are measured with one node. Commands include those inside scripts.""";
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
        boolean ours = !round.variant().isPeer();
        for (int queues : (round.mode() == Mode.FULL) ? List.of(1, 10, 100) : List.of(1)) {
            cell(round, queues, 1);
            if (ours && round.mode() == Mode.FULL) {
                cell(round, queues, 10);
            }
        }
        if (ours && round.mode() == Mode.QUICK) {
            cell(round, 10, 3);
        }
    }

    private static void cell(Round round, int queues, int nodes) {
        try (Stage stage = round.workshop().stage(round.variant())) {
            for (int i = 0; i < nodes; i++) {
                stage.add("handlers=4 queues=" + queues, SMALL);
            }
            stage.call("bulk count=%d bytes=100 tracked=no chunk=1 dueFrom=%d", queues,
                    System.currentTimeMillis() + 3_600_000);
            for (ContenderProcess node : stage.processes()) {
                node.call("start");
            }
            // Real time: the contenders connect and subscribe first.
            Pause.millis(round.mode().pick(500, 3000, 6000));
            int connections = Integer
                .parseInt(stage.redis().link().info("clients").getOrDefault("connected_clients", "1")) - 1;
            Meter meter = Meter.start(stage);
            // Real time: the length of the measurement.
            Pause.millis(round.mode().pick(1000, 10_000, 30_000));
            Usage usage = meter.stop();
            double seconds = usage.seconds();
            round.record(
                    new Round.Scenario("%d %s, %d %s".formatted(queues, (queues == 1) ? "queue" : "queues", nodes,
                            (nodes == 1) ? "node" : "nodes"), queues),
                    new Figures().with(Figure.SECONDS, usage.seconds())
                        .with(Figure.SCRIPTS_PER_SECOND, usage.scripts() / seconds / queues / nodes)
                        .with(Figure.COMMANDS_PER_SECOND, usage.commands() / seconds)
                        .with(Figure.CONNECTIONS, connections / (double) nodes)
                        .with(Figure.JVM_PER_SECOND, usage.jvmMicros() / 1000 / seconds / nodes),
                    null, usage.weather());
        }
    }

}
