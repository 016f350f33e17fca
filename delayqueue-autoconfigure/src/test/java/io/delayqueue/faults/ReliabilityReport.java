package io.delayqueue.faults;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The tables of docs/reliability.md, made of what {@link Results} has kept. Threads:
 * confined to one.
 */
final class ReliabilityReport {

    /** What the judge looks at in each run. */
    private static final List<String> PROMISES = List.of("P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "P9", "P10",
            "P12", "other");

    private final List<JsonNode> runs;

    ReliabilityReport(List<String> lines) {
        JsonMapper mapper = JsonMapper.builder().build();
        this.runs = lines.stream().filter((line) -> !line.isBlank()).map(mapper::readTree).toList();
    }

    String text() {
        StringBuilder text = new StringBuilder();
        summary(text);
        matrix(text);
        lateness(text);
        return text.toString();
    }

    private void summary(StringBuilder text) {
        text.append("| suite | runs | seeds | faults | acknowledged sends | of unknown effect | handlers started ")
            .append("| messages handled more than once | dead letters | settlements refused | violations |\n");
        text.append("| --- | --: | --- | --: | --: | --: | --: | --: | --: | --: | --: |\n");
        bySuite().forEach((suite, runs) -> text.append("| %s | %d | %s | %d | %d | %d | %d | %d | %d | %d | %d |\n"
            .formatted(suite, runs.size(), seeds(runs), sum(runs, ReliabilityReport::faultsOf),
                    sum(runs, (run) -> count(run, "acknowledged sends")),
                    sum(runs, (run) -> count(run, "sends of unknown effect")), sum(runs, (run) -> count(run, "HANDLE")),
                    sum(runs, (run) -> count(run, "handled more than once")), sum(runs, (run) -> count(run, "LETTER")),
                    sum(runs, (run) -> count(run, "settlements false")),
                    sum(runs, (run) -> run.get("violations").size()))));
    }

    private Map<String, List<JsonNode>> bySuite() {
        return this.runs.stream()
            .collect(Collectors.groupingBy((run) -> run.get("suite").asString(), LinkedHashMap::new,
                    Collectors.toList()));
    }

    private static String seeds(List<JsonNode> runs) {
        List<Long> seeds = runs.stream().map((run) -> run.get("seed").asLong()).sorted().distinct().toList();
        List<String> ranges = new ArrayList<>();
        int start = 0;
        for (int i = 1; i <= seeds.size(); i++) {
            if (i == seeds.size() || seeds.get(i) != seeds.get(i - 1) + 1) {
                long first = seeds.get(start);
                long last = seeds.get(i - 1);
                ranges.add((first == last) ? Long.toString(first) : first + " to " + last);
                start = i;
            }
        }
        return String.join(", ", ranges);
    }

    private void matrix(StringBuilder text) {
        Map<String, long[]> rows = new TreeMap<>();
        for (JsonNode run : this.runs) {
            run.get("faults").properties().forEach((fault) -> {
                long[] row = rows.computeIfAbsent(fault.getKey(), (none) -> new long[2 + PROMISES.size()]);
                row[0]++;
                row[1] += fault.getValue().asLong();
                for (int i = 0; i < PROMISES.size(); i++) {
                    row[2 + i] += violations(run, PROMISES.get(i));
                }
            });
        }
        text.append("\n| fault | runs with it | times |");
        PROMISES.forEach((promise) -> text.append(' ').append(promise).append(" |"));
        text.append("\n| --- | --: | --: |").append(" --: |".repeat(PROMISES.size())).append('\n');
        rows.forEach((fault, row) -> {
            text.append("| ").append(fault).append(" |");
            for (long value : row) {
                text.append(' ').append(value).append(" |");
            }
            text.append('\n');
        });
    }

    private static long violations(JsonNode run, String promise) {
        return StreamSupport.stream(run.get("violations").spliterator(), false)
            .map((violation) -> violation.asString().split(" ", 2)[0])
            .filter((named) -> promise.equals(PROMISES.contains(named) ? named : "other"))
            .count();
    }

    private void lateness(StringBuilder text) {
        text.append(
                "\n| fault, alone | lateness during it: p50, p99, most | after it: p50, p99, most | from mended to ")
            .append("next handler: median, most |\n| --- | --: | --: | --: |\n");
        for (JsonNode run : this.runs) {
            if (run.get("suite").asString().equals("single")) {
                String fault = run.get("fault").asString();
                text.append("| %s | %s | %s | %s |\n".formatted(fault, lateness(run, fault), lateness(run, "after"),
                        recovery(run)));
            }
        }
    }

    private static String lateness(JsonNode run, String phase) {
        JsonNode values = run.get("latenessMicros").get(phase);
        return (values == null) ? "none due"
                : "%d, %d, %d ms".formatted(millis(values, "p50"), millis(values, "p99"), millis(values, "max"));
    }

    private static long millis(JsonNode values, String name) {
        return Math.round(values.get(name).asLong() / 1000.0);
    }

    private static String recovery(JsonNode run) {
        List<Long> values = StreamSupport.stream(run.get("recoveryMillis").spliterator(), false)
            .map(JsonNode::asLong)
            .sorted()
            .toList();
        return values.isEmpty() ? "none"
                : "%d, %d ms".formatted(values.get(values.size() / 2), values.get(values.size() - 1));
    }

    private static long faultsOf(JsonNode run) {
        return run.get("faults").properties().stream().mapToLong((fault) -> fault.getValue().asLong()).sum();
    }

    private static long count(JsonNode run, String name) {
        JsonNode value = run.get("counts").get(name);
        return (value == null) ? 0 : value.asLong();
    }

    private static long sum(List<JsonNode> runs, ToLongFunction<JsonNode> value) {
        return runs.stream().mapToLong(value).sum();
    }

}
