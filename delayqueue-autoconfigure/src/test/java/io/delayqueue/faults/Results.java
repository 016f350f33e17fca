package io.delayqueue.faults;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.delayqueue.faults.Event.Kind;
import tools.jackson.databind.json.JsonMapper;

/**
 * Keeps what runs found: a line of JSON each in {@code target/faults/results.jsonl}.
 * Threads: confined to one.
 */
final class Results {

    private static final Path FILE = Path.of("target", "faults", "results.jsonl");

    private Results() {
    }

    static void add(String suite, String fault, long seed, History history, Verdict verdict) {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("suite", suite);
        line.put("fault", fault);
        line.put("seed", seed);
        line.put("violations", verdict.violations().stream().map(Object::toString).toList());
        line.put("faults", faults(history));
        line.put("recoveryMillis", recoveries(history));
        Map<String, Object> lateness = new LinkedHashMap<>();
        verdict.lateness().forEach((phase, values) -> lateness.put(phase, percentiles(values)));
        line.put("latenessMicros", lateness);
        line.put("counts", verdict.counts());
        if (verdict.delaysAfterDeaths().length > 0) {
            line.put("delayAfterDeathMicros", percentiles(verdict.delaysAfterDeaths()));
        }
        try {
            Files.writeString(FILE, JsonMapper.builder().build().writeValueAsString(line) + "\n",
                    StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static Map<String, Long> percentiles(long[] values) {
        Map<String, Long> percentiles = new LinkedHashMap<>();
        percentiles.put("n", (long) values.length);
        percentiles.put("p50", values[values.length / 2]);
        percentiles.put("p99", values[(int) (values.length * 0.99)]);
        percentiles.put("max", values[values.length - 1]);
        return percentiles;
    }

    /** What was broken, how often. */
    private static Map<String, Integer> faults(History history) {
        Map<String, Integer> faults = new LinkedHashMap<>();
        history.of(Kind.FAULT)
            .stream()
            .filter((event) -> event.is("state", "broken"))
            .forEach((event) -> faults.merge(event.get("text"), 1, Integer::sum));
        return faults;
    }

    /** From each mend until the next handler starts. */
    private static List<Long> recoveries(History history) {
        List<Event> starts = history.of(Kind.HANDLE);
        List<Long> recoveries = new ArrayList<>();
        for (Event mended : history.of(Kind.FAULT)) {
            if (mended.is("state", "mended")) {
                starts.stream()
                    .filter((start) -> start.at() >= mended.at())
                    .findFirst()
                    .ifPresent((start) -> recoveries.add((start.at() - mended.at()) / 1000));
            }
        }
        return recoveries;
    }

}
