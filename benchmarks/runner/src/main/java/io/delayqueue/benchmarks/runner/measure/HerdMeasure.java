package io.delayqueue.benchmarks.runner.measure;

import java.util.Comparator;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.delayqueue.benchmarks.runner.process.Meter;
import io.delayqueue.benchmarks.runner.process.Pause;
import io.delayqueue.benchmarks.runner.process.RedisLink;
import io.delayqueue.benchmarks.runner.process.Reply;
import io.delayqueue.benchmarks.runner.process.Stage;
import io.delayqueue.benchmarks.runner.process.Usage;
import io.delayqueue.benchmarks.runner.process.Variant;
import io.delayqueue.benchmarks.runner.result.Figure;

/** Very many messages that are due in the same millisecond. */
final class HerdMeasure implements Measure {

    private static final Pattern PERCENTILES = Pattern.compile("p99.9=([0-9.]+),p100=([0-9.]+)");

    /** Scripts that take longer are outliers, which are listed. */
    private static final int SLOW_MICROS = 5000;

    @Override
    public String name() {
        return "herd";
    }

    @Override
    public String title() {
        return "Thundering herd";
    }

    @Override
    public String about() {
        return """
                All messages are due in one millisecond, with the handlers waiting: 100,000 in one queue, and one in each of 10,000 \
                queues, which only DelayQueue is measured with (the others would need 10,000 to 160,000 threads). The rate is from the \
                due time to the last acknowledgement. The time of scripts is the greater of those of EVALSHA and EVAL by Redis' own statistics, \
                over all scripts. Redisson accepts delays and no due times, so each of its messages may be due a millisecond before or \
                after the others. Rqueue has fewer messages, as it needs minutes for them.""";
    }

    @Override
    public List<Variant> variants(Mode mode) {
        return (mode != Mode.FULL) ? List.of(Variant.LIMIT, Variant.LIMIT_LEASED, Variant.OURS, Variant.REDISSON_TUNED)
                : List.of(Variant.LIMIT, Variant.LIMIT_LEASED, Variant.OURS, Variant.REDISSON_TUNED, Variant.RQUEUE,
                        Variant.RQUEUE_TUNED);
    }

    @Override
    public void measure(Round round) {
        int messages = messages(round);
        try (Stage stage = round.open("handlers=16")) {
            trackScripts(stage.redis().link());
            int part = round.variant().isRqueue() ? 50 : messages;
            round.warmUp(stage, () -> DrainMeasure.drain(stage, part, 100));
            cell(round, stage, messages, "in one queue");
        }
        if (round.variant().isOurs()) {
            int queues = round.mode().pick(20, 500, 10_000);
            try (Stage stage = round.open("handlers=16 queues=" + queues)) {
                trackScripts(stage.redis().link());
                cell(round, stage, queues, "in as many queues");
            }
        }
    }

    /** Returns fewer for Rqueue, which handles some hundred a second. */
    private static int messages(Round round) {
        if (round.variant().isRqueue()) {
            return round.variant().equals(Variant.RQUEUE) ? 1000 : 10_000;
        }
        return round.mode().pick(500, 20_000, 100_000);
    }

    /** Only Redis 7 can. */
    private static void trackScripts(RedisLink redis) {
        if (!redis.info("server").getOrDefault("redis_version", "").startsWith("6.")) {
            redis.call("CONFIG", "SET", "latency-tracking-info-percentiles", "50 99 99.9 100");
        }
    }

    private static void cell(Round round, Stage stage, int messages, String where) {
        RedisLink redis = stage.redis().link();
        boolean oneQueue = where.equals("in one queue");
        stage.call("expect count=%d", messages);
        long due = System.currentTimeMillis()
                + round.mode().pick(3000, oneQueue ? 5000 : 15_000, oneQueue ? 12_000 : 90_000);
        stage.call("bulk count=%d bytes=100 dueFrom=%d chunk=%d", messages, due, oneQueue ? 10_000 : 1);
        stage.call("start"); // with thousands of queues this takes long
        redis.call("CONFIG", "RESETSTAT");
        redis.call("CONFIG", "SET", "slowlog-log-slower-than", String.valueOf(SLOW_MICROS));
        redis.call("CONFIG", "SET", "slowlog-max-len", "1000");
        redis.call("SLOWLOG", "RESET");
        // Real time: the meter starts shortly before the messages are due.
        Pause.millis(Math.max(0, due - 50 - System.currentTimeMillis()));
        Meter meter = Meter.start(stage);
        long settled = stage.call("await millis=%d", 120_000).get("settledMicros");
        Usage usage = meter.stop();
        Reply findings = stage.call("findings");
        Figures figures = new Figures().withLateness(findings)
            .with(Figure.PER_SECOND, messages / ((settled - due * 1000) / 1e6))
            .with(usage, messages);
        List<String> notes = scriptTimes(redis, figures);
        stage.call("stop");
        round.record(new Round.Scenario("%,d %s".formatted(messages, where), messages), figures, findings.delivery(),
                usage.weather(), notes);
    }

    /** Redis 7 keeps them; of an older one there is only the slow log. */
    private static List<String> scriptTimes(RedisLink redis, Figures figures) {
        addScriptTimes(redis.call("INFO", "latencystats").stream().findFirst().orElse(""), figures);
        return slowest(redis);
    }

    /**
     * Adds the greatest times of the commands that run scripts. EVAL is only the first
     * call of each script.
     */
    static void addScriptTimes(String latencies, Figures figures) {
        List<MatchResult> commands = latencies.lines()
            .filter((line) -> line.contains("_eval"))
            .flatMap((line) -> PERCENTILES.matcher(line).results())
            .toList();
        if (!commands.isEmpty()) {
            figures.with(Figure.SCRIPT_P999, greatestMillis(commands, 1))
                .with(Figure.SCRIPT_MAX, greatestMillis(commands, 2));
        }
    }

    private static double greatestMillis(List<MatchResult> commands, int percentile) {
        return commands.stream()
            .mapToDouble((command) -> Double.parseDouble(command.group(percentile)) / 1000)
            .max()
            .orElseThrow();
    }

    private static List<String> slowest(RedisLink redis) {
        if (!(redis.tree("SLOWLOG", "GET", "1000") instanceof List<?> entries) || entries.isEmpty()) {
            return List.of();
        }
        String longest = entries.stream()
            .map((entry) -> (List<?>) entry)
            .sorted(Comparator.comparingLong((List<?> entry) -> -Long.parseLong(entry.get(2).toString())))
            .limit(5)
            .map(HerdMeasure::describe)
            .collect(Collectors.joining(", "));
        return List.of("%d commands took more than %d ms; the longest: %s".formatted(entries.size(), SLOW_MICROS / 1000,
                longest));
    }

    /** Describes a command; a script by the beginning of its digest. */
    private static String describe(List<?> entry) {
        List<?> words = (List<?>) entry.get(3);
        String script = (words.size() > 1) ? words.get(1).toString().replaceAll("(?s)^(.{8}).*", " $1") : "";
        return "%.1f ms %s%s".formatted(Long.parseLong(entry.get(2).toString()) / 1000.0, words.get(0), script);
    }

}
