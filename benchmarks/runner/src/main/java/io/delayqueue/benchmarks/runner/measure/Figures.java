package io.delayqueue.benchmarks.runner.measure;

import java.util.LinkedHashMap;
import java.util.Map;

import io.delayqueue.benchmarks.runner.process.Reply;
import io.delayqueue.benchmarks.runner.process.Usage;
import io.delayqueue.benchmarks.runner.result.Figure;

/** Collects the figures of a cell. */
final class Figures {

    private final Map<String, Double> values = new LinkedHashMap<>();

    Figures with(Figure figure, double value) {
        if (!Double.isFinite(value)) {
            return this;
        }
        double digits = (Math.abs(value) < 100) ? 1000 : 10;
        this.values.put(figure.name(), Math.round(value * digits) / digits);
        return this;
    }

    /** Adds the resources used, per message. */
    Figures with(Usage usage, long count) {
        double messages = (double) count;
        return with(Figure.SECONDS, usage.seconds()).with(Figure.REDIS_MICROS, usage.redisMicros() / messages)
            .with(Figure.JVM_MICROS, usage.jvmMicros() / messages)
            .with(Figure.CPU_MICROS, (usage.redisMicros() + usage.jvmMicros()) / messages)
            .with(Figure.COMPILING, usage.compilingPercent())
            .with(Figure.COMMANDS, usage.commands() / messages);
    }

    /** How late messages were, from a contender's findings. */
    Figures withLateness(Reply findings) {
        return with(Figure.P50, findings.millis("p50Micros")).with(Figure.P90, findings.millis("p90Micros"))
            .with(Figure.P99, findings.millis("p99Micros"))
            .with(Figure.P999, findings.millis("p999Micros"))
            .with(Figure.MAX, findings.millis("maxMicros"));
    }

    Map<String, Double> values() {
        return this.values;
    }

}
