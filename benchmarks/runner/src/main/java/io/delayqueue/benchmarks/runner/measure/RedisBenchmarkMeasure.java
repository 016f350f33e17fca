package io.delayqueue.benchmarks.runner.measure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.delayqueue.benchmarks.runner.process.Meter;
import io.delayqueue.benchmarks.runner.process.RedisBinary;
import io.delayqueue.benchmarks.runner.process.RedisLink;
import io.delayqueue.benchmarks.runner.process.Stage;
import io.delayqueue.benchmarks.runner.process.Usage;
import io.delayqueue.benchmarks.runner.process.Variant;
import io.delayqueue.benchmarks.runner.result.Figure;

/** The work of the limit, by the C client that comes with Redis. */
final class RedisBenchmarkMeasure implements Measure {

    private static final Variant TOOL = Variant.LIMIT.named("redis-benchmark");

    private static final String PAYLOAD = "x".repeat(100);

    private static final String FILL = """
            for i = ARGV[1], ARGV[2] do
              redis.call('HSET', KEYS[1], i, ARGV[3])
              redis.call('ZADD', KEYS[2], i, i)
            end
            """;

    /** As that of the limit, with the id as the due time. */
    private static final String SEND = """
            redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
            redis.call('ZADD', KEYS[2], ARGV[1], ARGV[1])
            """;

    private static final String CLAIM = """
            local ids = redis.call('ZRANGE', KEYS[2], '-inf', '+inf', 'BYSCORE', 'LIMIT', 0, 100)
            if #ids == 0 then return ids end
            redis.call('ZREM', KEYS[2], unpack(ids))
            local bodies = redis.call('HMGET', KEYS[1], unpack(ids))
            redis.call('HDEL', KEYS[1], unpack(ids))
            return bodies
            """;

    @Override
    public String name() {
        return "redis-benchmark";
    }

    @Override
    public String title() {
        return "The limit without a JVM";
    }

    @Override
    public String about() {
        return """
                The work of the limit without a JVM, by `redis-benchmark` with 8 connections and 100 bytes: HSET and ZADD with a \
                pipeline of 64, and the script that takes and deletes a hundred. With one connection and no pipeline, PING is the round \
                trip on loopback, and the script that sends a message the least of a send by one thread. Empty if that program is not \
                on the `PATH`.""";
    }

    @Override
    public List<Variant> variants(Mode mode) {
        return RedisBinary.onPath("redis-benchmark").isPresent() ? List.of(TOOL) : List.of();
    }

    @Override
    public void measure(Round round) {
        Path tool = RedisBinary.onPath("redis-benchmark").orElseThrow();
        int messages = round.mode().pick(10_000, 200_000, 1_000_000);
        try (Stage stage = round.workshop().stage(round.variant())) {
            RedisLink redis = stage.redis().link();
            String digest = redis.call("SCRIPT", "LOAD", CLAIM).get(0);
            Map<String, List<String>> commands = Map.of("HSET", List.of("HSET", "messages", "__rand_int__", PAYLOAD),
                    "ZADD", List.of("ZADD", "scheduled", "__rand_int__", "__rand_int__"));
            for (String command : List.of("HSET", "ZADD")) {
                List<String> words = new ArrayList<>(List.of(tool.toString(), "-c", "8", "-P", "64", "-r", "1000000000",
                        "-n", String.valueOf(messages)));
                words.addAll(commands.getOrDefault(command, List.of()));
                run(round, stage, command + ", pipeline of 64", words, messages);
            }
            int alone = messages / 4;
            List<String> oneByOne = List.of(tool.toString(), "-c", "1", "-P", "1", "-r", "1000000000", "-n",
                    String.valueOf(alone));
            run(round, stage, "PING, 1 connection", words(oneByOne, "PING"), alone);
            run(round, stage, "send script, 1 connection", words(oneByOne, "EVALSHA",
                    redis.call("SCRIPT", "LOAD", SEND).get(0), "2", "messages", "scheduled", "__rand_int__", PAYLOAD),
                    alone);
            stage.flush();
            for (int filled = 0; filled < messages; filled += 10_000) {
                redis.call("EVAL", FILL, "2", "messages", "scheduled", String.valueOf(filled + 1),
                        String.valueOf(filled + 10_000), PAYLOAD);
            }
            run(round, stage, "claim script, 100 at a time", List.of(tool.toString(), "-c", "8", "-n",
                    String.valueOf(messages / 100), "EVALSHA", digest, "2", "messages", "scheduled"), messages);
        }
    }

    private static List<String> words(List<String> first, String... more) {
        List<String> words = new ArrayList<>(first);
        words.addAll(List.of(more));
        return words;
    }

    private static void run(Round round, Stage stage, String scenario, List<String> words, int messages) {
        List<String> command = new ArrayList<>(words);
        command.addAll(1, List.of("-q", "-h", "127.0.0.1", "-p", String.valueOf(stage.redis().port())));
        Meter meter = Meter.start(stage);
        try {
            Process process = new ProcessBuilder(command).redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
            if (process.waitFor() != 0) {
                throw new IllegalStateException("redis-benchmark failed: " + command);
            }
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
        Usage usage = meter.stop();
        round.record(new Round.Scenario(scenario, 0),
                new Figures().with(Figure.PER_SECOND, messages / usage.seconds())
                    .with(Figure.REDIS_MICROS, usage.redisMicros() / messages)
                    .with(Figure.COMMANDS, usage.commands() / (double) messages),
                null, usage.weather());
    }

}
