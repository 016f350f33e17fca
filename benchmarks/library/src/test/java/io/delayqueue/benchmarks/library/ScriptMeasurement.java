package io.delayqueue.benchmarks.library;

import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

import io.delayqueue.MessageLimits;
import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.redis.RedisMessageStore;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.redis.script.LoadedScripts;
import io.delayqueue.redis.script.RedisScript;
import io.delayqueue.redis.script.ScriptCodec;
import io.delayqueue.redis.script.ScriptRunner;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Lease;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionTarget;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Measures what calls on messages of 100 bytes cost Redis, by its own statistics, with
 * the scripts of several directories in turn on one server:
 * {@code -Ddq.scripts=<directory>,<directory>}, by default those that are built. The
 * first is what the others are compared with. Run it by {@code scripts/measure-scripts}.
 * Prints the lower quartile of the rounds, of which there are {@code -Ddq.rounds}, and
 * its quotients: by that of the first directory, and by that of the plain path.
 */
@Timeout(value = 1, unit = TimeUnit.HOURS)
class ScriptMeasurement {

    private static final int ROUNDS = Integer.getInteger("dq.rounds", 10);

    private static final int CALLS = 400;

    private static final Path BUILT = Path.of("../../delayqueue-autoconfigure/src/main/resources/io/delayqueue/redis");

    private static final Duration LEASE = Duration.ofHours(1);

    private static final Pattern STATISTICS = Pattern.compile("cmdstat_evalsha:calls=(\\d+),usec=(\\d+)");

    private static final PartitionTarget HOME = PartitionTarget.first(new QueueName("measured"));

    private static final Partition QUEUE = HOME.partition();

    private static final byte[] ENVELOPE = "{\"payload\":{\"text\":\"%s\"}}".formatted("x".repeat(77))
        .getBytes(StandardCharsets.US_ASCII);

    private static final List<Integer> NORMAL = List.of(MessageLimits.NORMAL_PRIORITY);

    private static final List<Integer> THREE = List.of(2, 4, 7);

    private static final List<Integer> TEN = IntStream.rangeClosed(0, 9).boxed().toList();

    private static final String PLAIN = "plain";

    private final Map<String, Map<Path, List<Double>>> micros = new LinkedHashMap<>();

    private RedisServer server;

    @Test
    void scriptsAreCompared() {
        List<Path> variants = Pattern.compile(",")
            .splitAsStream(System.getProperty("dq.scripts", BUILT.toString()))
            .map(Path::of)
            .toList();
        this.server = RedisServer.start(RedisBinary.preferred());
        LettuceConnectionFactory connections = ConnectionFactories.lettuce(this.server);
        ScriptRunner runner = RedisScriptExecutor.runner(connections, Duration.ofMinutes(1));
        Map<Path, RedisMessageStore> stores = new LinkedHashMap<>();
        variants.forEach((variant) -> stores.put(variant,
                new RedisMessageStore(new RedisScriptExecutor(new Substitute(runner, variant), "measured"))));
        for (int round = -1; round < ROUNDS; round++) {
            boolean counts = round >= 0;
            List<Path> order = new ArrayList<>(variants);
            if (round % 2 != 0) {
                Collections.reverse(order);
            }
            order.forEach((variant) -> round(variant, stores.get(variant), counts));
        }
        report(variants);
        connections.destroy();
        this.server.close();
    }

    private void round(Path variant, RedisMessageStore store, boolean counts) {
        Scene scene = new Scene(variant, store, counts);
        scene.deliver(PLAIN, NORMAL, null);
        scene.store.schedule(HOME, List.of(message("retried", 4, Duration.ZERO, null))).join();
        List<Lease> retried = List.of();
        while (retried.isEmpty()) { // due in the next millisecond
            retried = scene.claim(1).join();
        }
        scene.store.retry(retried.get(0), LEASE, "boom").join();
        scene.deliver("plain beside a retry", NORMAL, null);
        this.server.commands().flushall();
        scene.waitIn(THREE);
        scene.deliver("plain beside three lanes", NORMAL, null);
        scene.deliver("in three lanes", THREE, null);
        scene.waitIn(TEN);
        scene.deliver("plain beside ten lanes", NORMAL, null);
        scene.deliver("in ten lanes", TEN, null);
        this.server.commands().flushall();
        scene.deliver("with a time to live", NORMAL, LEASE);
        this.server.commands().flushall();
    }

    private static NewMessage message(String id, int priority, Duration delay, @Nullable Duration timeToLive) {
        return new NewMessage(id, true, DueTime.after(delay), OnDuplicate.KEEP, priority, timeToLive, null, ENVELOPE);
    }

    /** Runs calls in one state of a queue, with the scripts of one directory. */
    private final class Scene {

        private final Path variant;

        private final RedisMessageStore store;

        private final boolean counts;

        Scene(Path variant, RedisMessageStore store, boolean counts) {
            this.variant = variant;
            this.store = store;
            this.counts = counts;
        }

        void waitIn(List<Integer> lanes) {
            lanes.forEach((lane) -> this.store
                .schedule(HOME, List.of(message("waits" + lane, lane, LEASE.multipliedBy(2), null)))
                .join());
        }

        void deliver(String kind, List<Integer> lanes, @Nullable Duration timeToLive) {
            for (int batch : new int[] { 50, 1 }) {
                int calls = CALLS / batch + CALLS / 10;
                List<CompletableFuture<List<Lease>>> claims = measure(kind + ", claim of " + batch,
                        measure(kind + ", send of " + batch, IntStream.range(0, calls).boxed().toList(),
                                (call) -> this.store.schedule(HOME, messages(call, batch, lanes, timeToLive))),
                        (sent) -> claim(batch));
                measure(kind + ", acknowledge of " + batch, claims,
                        (claim) -> this.store.acknowledge(QUEUE, claim.join()));
            }
        }

        private static List<NewMessage> messages(int call, int batch, List<Integer> lanes,
                @Nullable Duration timeToLive) {
            return IntStream.range(0, batch)
                .mapToObj((n) -> message("m%d-%d".formatted(call, n), lanes.get((call + n) % lanes.size()),
                        Duration.ZERO, timeToLive))
                .toList();
        }

        CompletableFuture<List<Lease>> claim(int limit) {
            return this.store.claim(QUEUE, new ClaimRequest(limit, LEASE, ExpiryPolicy.DROP))
                .thenApply((claim) -> claim.messages().stream().map(ClaimedMessage::lease).toList());
        }

        /** Makes all calls without waiting, so that Redis finds the next one at once. */
        private <I, T> List<CompletableFuture<T>> measure(String what, List<I> inputs,
                Function<I, CompletableFuture<T>> call) {
            ScriptMeasurement.this.server.commands().configResetstat();
            List<CompletableFuture<T>> made = inputs.stream().map(call).toList();
            made.forEach(CompletableFuture::join);
            Matcher statistics = STATISTICS.matcher(ScriptMeasurement.this.server.commands().info("commandstats"));
            if (this.counts && statistics.find()) {
                ScriptMeasurement.this.micros.computeIfAbsent(what, (any) -> new LinkedHashMap<>())
                    .computeIfAbsent(this.variant, (any) -> new ArrayList<>())
                    .add(Double.parseDouble(statistics.group(2)) / Double.parseDouble(statistics.group(1)));
            }
            return made;
        }

    }

    private void report(List<Path> variants) {
        System.out.printf("Microseconds of Redis a call, lower quartile of %d rounds; load %.1f on %d cores%n", ROUNDS,
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage(),
                Runtime.getRuntime().availableProcessors());
        this.micros.forEach((what, byVariant) -> {
            StringBuilder line = new StringBuilder("  %-40s".formatted(what));
            Map<Path, List<Double>> plain = this.micros.get(PLAIN + what.substring(what.indexOf(',')));
            double first = typical(byVariant.get(variants.get(0)));
            for (Path variant : variants) {
                double micros = typical(byVariant.get(variant));
                line.append(" %8.2f (x %.2f, of plain %.2f)".formatted(micros, micros / first,
                        micros / typical(plain.get(variant))));
            }
            System.out.println(line);
        });
    }

    /** Returns the lower quartile, as other work on the machine only adds time. */
    private static double typical(List<Double> values) {
        return values.stream().sorted().toList().get(values.size() / 4);
    }

    /** Runs the scripts of a directory in place of those that are built. */
    private static final class Substitute implements ScriptRunner {

        private final ScriptRunner runner;

        private final Path directory;

        private final boolean nineLanes;

        private final Map<String, RedisScript> scripts = new ConcurrentHashMap<>();

        Substitute(ScriptRunner runner, Path directory) {
            this.runner = runner;
            this.directory = directory;
            this.nineLanes = LoadedScripts.read(directory, "claim").text().contains("KEYS[23]");
        }

        @Override
        public CompletableFuture<List<Object>> run(RedisScript script, byte[][] keys, byte[][] arguments) {
            byte[][] named = this.nineLanes ? ofNineLanes(keys) : keys;
            return this.runner.run(
                    this.scripts.computeIfAbsent(script.name(), (name) -> LoadedScripts.read(this.directory, name)),
                    named, arguments);
        }

        /**
         * Returns keys as the scripts of 2935fb5 take them, with a sorted set for each
         * lane.
         */
        private static byte[][] ofNineLanes(byte[][] keys) {
            if (keys.length < 15) {
                return keys;
            }
            List<byte[]> all = new ArrayList<>(List.of(keys));
            for (int lane = 1; lane < 9; lane++) {
                all.add(11, ScriptCodec.bytes(ScriptCodec.text(keys[11]) + lane));
            }
            return all.toArray(byte[][]::new);
        }

        @Override
        public void close() {
            this.runner.close();
        }

    }

}
