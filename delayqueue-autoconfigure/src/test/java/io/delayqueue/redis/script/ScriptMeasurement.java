package io.delayqueue.redis.script;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.redis.Connections;
import io.delayqueue.redis.RedisMessageStore;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Lease;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.testing.RedisBinary;
import io.delayqueue.testing.RedisServer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Measures what calls on messages of 100 bytes cost Redis, by its own statistics, with
 * the scripts of several directories in turn on one server:
 * {@code -Ddq.scripts=<directory>,<directory>}, by default those that are built. The
 * first is what the others are compared with. Not part of the suite; prints the median of
 * the rounds, of which there are {@code -Ddq.rounds}, and the median of the quotients.
 */
@Timeout(value = 1, unit = TimeUnit.HOURS)
class ScriptMeasurement {

    private static final int ROUNDS = Integer.getInteger("dq.rounds", 100);

    private static final Path BUILT = Path.of("src/main/resources/io/delayqueue/redis");

    private static final Duration LEASE = Duration.ofHours(1);

    private static final Pattern STATISTICS = Pattern.compile("cmdstat_evalsha:calls=(\\d+),usec=(\\d+)");

    private static final PartitionTarget HOME = PartitionTarget.first(new QueueName("measured"));

    private static final Partition QUEUE = HOME.partition();

    private static final byte[] ENVELOPE = "{\"payload\":{\"text\":\"%s\"}}".formatted("x".repeat(77))
        .getBytes(StandardCharsets.US_ASCII);

    private final Map<String, Map<Path, List<Double>>> micros = new LinkedHashMap<>();

    private RedisServer server;

    @Test
    void scriptsAreCompared() {
        List<Path> variants = Pattern.compile(",")
            .splitAsStream(System.getProperty("dq.scripts", BUILT.toString()))
            .map(Path::of)
            .toList();
        this.server = RedisServer.start(RedisBinary.preferred());
        LettuceConnectionFactory connections = Connections.lettuce(this.server);
        ScriptRunner runner = RedisScriptExecutor.runner(connections, Duration.ofMinutes(1));
        Map<Path, RedisMessageStore> stores = new LinkedHashMap<>();
        variants.forEach((variant) -> stores.put(variant,
                new RedisMessageStore(new RedisScriptExecutor(new Substitute(runner, variant), "measured"))));
        for (int round = -ROUNDS / 10; round < ROUNDS; round++) {
            boolean counts = round >= 0;
            List<Path> order = new ArrayList<>(variants);
            if (round % 2 != 0) {
                java.util.Collections.reverse(order);
            }
            order.forEach((variant) -> round(variant, stores.get(variant), counts));
        }
        report(variants);
        connections.destroy();
        this.server.close();
    }

    private void round(Path variant, RedisMessageStore store, boolean counts) {
        Consumer<Runnable> unmeasured = Runnable::run;
        unmeasured.accept(this.server.commands()::flushall);
        deliver(variant, store, counts, "plain", null);
        store.schedule(HOME, List.of(message("retried", null))).join();
        store.retry(claim(store, 1).get(0), LEASE, "boom").join();
        deliver(variant, store, counts, "plain beside a retry", null);
        deliver(variant, store, counts, "with a time to live", LEASE);
        this.server.commands().flushall();
    }

    private void deliver(Path variant, RedisMessageStore store, boolean counts, String kind,
            @Nullable Duration timeToLive) {
        for (int batch : new int[] { 100, 1 }) {
            int times = (batch == 1) ? 100 : 10;
            List<List<Lease>> leases = new ArrayList<>();
            measure(variant, counts, kind + ", send of " + batch, times,
                    (i) -> store.schedule(HOME,
                            IntStream.range(0, batch).mapToObj((n) -> message("m" + i + "-" + n, timeToLive)).toList())
                        .join());
            measure(variant, counts, kind + ", claim of " + batch, times, (i) -> leases.add(claim(store, batch)));
            measure(variant, counts, kind + ", acknowledge of " + batch, times,
                    (i) -> store.acknowledge(QUEUE, leases.get(i)).join());
        }
    }

    private static NewMessage message(String id, @Nullable Duration timeToLive) {
        return new NewMessage(id, true, DueTime.NOW, OnDuplicate.KEEP, 4, timeToLive, null, ENVELOPE);
    }

    private static List<Lease> claim(RedisMessageStore store, int limit) {
        List<Lease> leases = List.of();
        while (leases.size() < limit) {
            leases = store.claim(QUEUE, new ClaimRequest(limit, LEASE, ExpiryPolicy.DROP))
                .join()
                .messages()
                .stream()
                .map(ClaimedMessage::lease)
                .toList();
        }
        return leases;
    }

    private void measure(Path variant, boolean counts, String what, int times, Consumer<Integer> call) {
        this.server.commands().configResetstat();
        for (int i = 0; i < times; i++) {
            call.accept(i);
        }
        Matcher statistics = STATISTICS.matcher(this.server.commands().info("commandstats"));
        if (counts && statistics.find()) {
            this.micros.computeIfAbsent(what, (any) -> new LinkedHashMap<>())
                .computeIfAbsent(variant, (any) -> new ArrayList<>())
                .add(Double.parseDouble(statistics.group(2)) / Double.parseDouble(statistics.group(1)));
        }
    }

    private void report(List<Path> variants) {
        System.out.printf("Microseconds of Redis a call, median of %d rounds; load %.1f on %d cores%n", ROUNDS,
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage(),
                Runtime.getRuntime().availableProcessors());
        this.micros.forEach((what, byVariant) -> {
            StringBuilder line = new StringBuilder("  %-40s".formatted(what));
            List<Double> first = byVariant.get(variants.get(0));
            for (Path variant : variants) {
                List<Double> these = byVariant.get(variant);
                List<Double> quotients = IntStream.range(0, ROUNDS)
                    .mapToObj((i) -> these.get(i) / first.get(i))
                    .toList();
                line.append(" %8.2f (x %.3f)".formatted(median(these), median(quotients)));
            }
            System.out.println(line);
        });
    }

    private static double median(List<Double> values) {
        return values.stream().sorted().toList().get(values.size() / 2);
    }

    /** Runs the scripts of a directory in place of those that are built. */
    private static final class Substitute implements ScriptRunner {

        private final ScriptRunner runner;

        private final Path directory;

        private final Prelude prelude;

        private final Map<String, RedisScript> scripts = new ConcurrentHashMap<>();

        Substitute(ScriptRunner runner, Path directory) {
            this.runner = runner;
            this.directory = directory;
            this.prelude = new Prelude(read("prelude"));
        }

        private String read(String name) {
            try {
                return Files.readString(this.directory.resolve(name + ".lua"));
            }
            catch (IOException ex) {
                throw new UncheckedIOException(ex);
            }
        }

        @Override
        public CompletableFuture<List<Object>> run(RedisScript script, byte[][] keys, byte[][] arguments) {
            return this.runner.run(this.scripts.computeIfAbsent(script.name(),
                    (name) -> RedisScript.of(name, this.prelude.complete(read(name)))), keys, arguments);
        }

        @Override
        public void close() {
            this.runner.close();
        }

    }

}
