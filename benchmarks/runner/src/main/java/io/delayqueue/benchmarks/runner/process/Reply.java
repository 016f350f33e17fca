package io.delayqueue.benchmarks.runner.process;

import java.util.Map;
import java.util.TreeMap;

import io.delayqueue.benchmarks.runner.result.Delivery;

/**
 * Holds the answer of a contender's process.
 *
 * @param values numbers by name
 */
public record Reply(Map<String, Long> values) {

    static Reply parse(String line) {
        Map<String, Long> values = new TreeMap<>();
        for (String word : line.split(" ")) {
            int equals = word.indexOf('=');
            if (equals > 0) {
                values.put(word.substring(0, equals), Long.valueOf(word.substring(equals + 1)));
            }
        }
        return new Reply(values);
    }

    public long get(String name) {
        Long value = this.values.get(name);
        if (value == null) {
            throw new IllegalStateException("'%s' is not in %s".formatted(name, this.values));
        }
        return value;
    }

    /** A number of microseconds, in milliseconds. */
    public double millis(String name) {
        return get(name) / 1e3;
    }

    /** The delivery check of an answer with findings. */
    public Delivery delivery() {
        return new Delivery(get("expected"), get("lost"), get("doubled"), get("unexpected"), get("early"),
                get("earlyByAMilli"), get("earliestMicros"));
    }

}
