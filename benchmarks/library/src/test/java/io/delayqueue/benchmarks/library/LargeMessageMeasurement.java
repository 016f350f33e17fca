package io.delayqueue.benchmarks.library;

import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.delayqueue.DeadLetterPage;
import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.admin.DelayQueueIntegrityChecker;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.redis.RedisMessageInspector;
import io.delayqueue.redis.RedisMessageStore;
import io.delayqueue.redis.RedisQueueInspector;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.redis.check.RedisIntegrityChecker;
import io.delayqueue.redis.script.LoadedScripts;
import io.delayqueue.redis.script.RedisScript;
import io.delayqueue.redis.script.ScriptRunner;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.DeadLetterRequest;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Lease;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Measures how long scripts block Redis when messages are large: claims of 100, and all
 * other operations that read or write contents. Prints for each size and script the
 * number of calls, and the longest of them by Redis' slow log. {@code -Ddq.sizes=64,256}
 * selects sizes, in KiB; {@code -Ddq.seconds=60} is the time that it claims for each.
 */
@Timeout(value = 1, unit = TimeUnit.HOURS)
class LargeMessageMeasurement {

    private static final Duration LIMIT = Duration.ofMinutes(10);

    private static final Duration LEASE = Duration.ofHours(1);

    private static final int MESSAGES = 100;

    private static final int CLAIMS = 1_200;

    private static final long NANOS = TimeUnit.SECONDS.toNanos(Integer.getInteger("dq.seconds", 60));

    /** The limit of one call of BatchSender. */
    private static final int CALL = 1 << 20;

    private static final byte[] SMALL = "{\"payload\":1}".getBytes(StandardCharsets.US_ASCII);

    private static final int SLOW_MICROS = 500;

    private static final PartitionTarget HOME = PartitionTarget.first(new QueueName("large"));

    private static final Partition QUEUE = HOME.partition();

    private final Map<String, Integer> calls = new ConcurrentHashMap<>();

    private RedisMessageStore store;

    private RedisScriptExecutor redis;

    private LettuceConnectionFactory connections;

    private byte[] envelope;

    /** One message of this many is large, the others have a few bytes. */
    private int largeEach;

    static Stream<Integer> sizes() {
        return Stream.of(System.getProperty("dq.sizes", "64,256,1024,4096,16384").split(",")).map(Integer::valueOf);
    }

    @ParameterizedTest
    @MethodSource("sizes")
    void scriptsAreTimed(int kibibytes) {
        time(kibibytes, 1);
    }

    @ParameterizedTest
    @MethodSource("sizes")
    void scriptsAreTimedWithSmallMessagesBetween(int kibibytes) {
        time(kibibytes, 2);
    }

    private void time(int kibibytes, int largeEach) {
        this.largeEach = largeEach;
        this.envelope = "{\"payload\":\"%s\"}".formatted("x".repeat(kibibytes * 1024 - 14))
            .getBytes(StandardCharsets.US_ASCII);
        try (RedisServer server = RedisServer.start(RedisBinary.preferred(), "slowlog-log-slower-than " + SLOW_MICROS,
                "slowlog-max-len 1000000", "client-query-buffer-limit 2gb")) {
            this.connections = ConnectionFactories.lettuce(server);
            ScriptRunner runner = RedisScriptExecutor.runner(this.connections, LIMIT);
            this.redis = new RedisScriptExecutor(counting(runner), "measured");
            this.store = new RedisMessageStore(this.redis);
            deliver(2, NANOS / 10);
            String what = kibibytes + " KiB" + ((largeEach > 1) ? ", one of " + largeEach : "");
            measure(server, what + ", send, claim of 100 and acknowledge", () -> deliver(CLAIMS, NANOS));
            measure(server, what + ", everything else", this::doEverythingElse);
            this.connections.destroy();
        }
    }

    private ScriptRunner counting(ScriptRunner runner) {
        return new ScriptRunner() {

            @Override
            public CompletableFuture<List<Object>> run(RedisScript script, byte[][] keys, byte[][] arguments) {
                LargeMessageMeasurement.this.calls.merge(script.name(), 1, Integer::sum);
                return runner.run(script, keys, arguments);
            }

            @Override
            public void close() {
                runner.close();
            }

        };
    }

    /** Sends, claims and acknowledges up to a number of claims, or a time. */
    private void deliver(int claims, long nanos) {
        long start = System.nanoTime();
        for (int done = 0; done < claims && System.nanoTime() - start < nanos;) {
            send(OnDuplicate.KEEP);
            List<Lease> leases = new ArrayList<>();
            while (leases.size() < MESSAGES) {
                leases.addAll(claim(LEASE));
                done++;
            }
            this.store.acknowledge(QUEUE, leases).join();
        }
    }

    private void send(OnDuplicate onDuplicate) {
        List<NewMessage> messages = IntStream.range(0, MESSAGES)
            .mapToObj((number) -> new NewMessage("message-" + number, false, DueTime.NOW, onDuplicate, 4, null, null,
                    (number % this.largeEach == 0) ? this.envelope : SMALL))
            .toList();
        int atOnce = Math.max(1, CALL / (this.envelope.length + 100));
        for (int from = 0; from < messages.size(); from += atOnce) {
            this.store.schedule(HOME, messages.subList(from, Math.min(from + atOnce, messages.size()))).join();
        }
    }

    private List<Lease> claim(Duration lease) {
        ClaimResult claim = this.store.claim(QUEUE, new ClaimRequest(MESSAGES, lease, ExpiryPolicy.DROP)).join();
        return claim.messages().stream().map(ClaimedMessage::lease).toList();
    }

    private List<Lease> claimAll(Duration lease) {
        List<Lease> leases = new ArrayList<>();
        while (leases.size() < MESSAGES) {
            leases.addAll(claim(lease));
        }
        return leases;
    }

    private void doEverythingElse() {
        EnvelopeCodec codec = new EnvelopeCodec(JsonMapper.builder().build());
        RedisMessageInspector inspector = new RedisMessageInspector(this.redis, codec);
        DelayQueueIntegrityChecker checker = new RedisIntegrityChecker(this.redis, () -> this.connections, codec);
        send(OnDuplicate.KEEP);
        send(OnDuplicate.KEEP);
        keepBySmallOnes();
        send(OnDuplicate.REPLACE);
        claimAll(Duration.ofMillis(1));
        List<Lease> leases = claimAll(LEASE);
        send(OnDuplicate.REPLACE);
        this.store.acknowledge(QUEUE, leases).join();
        leases = claimAll(LEASE);
        send(OnDuplicate.REPLACE);
        this.store.release(QUEUE, leases, Duration.ZERO).join();
        leases = claimAll(Duration.ofSeconds(20));
        send(OnDuplicate.REPLACE);
        awaitLapse(leases);
        leases = claimAll(LEASE);
        leases.forEach((lease) -> this.store.retry(lease, Duration.ZERO, "boom").join());
        leases = claimAll(LEASE);
        leases.forEach(
                (lease) -> this.store.deadLetter(lease, new DeadLetterRequest("boom", true, Instant.EPOCH)).join());
        DeadLetterPage page = null;
        do {
            page = inspector.deadLetters(QUEUE, (page != null) ? page.nextCursor() : null, 100).join();
        }
        while (page.nextCursor() != null);
        checker.check(QUEUE.queue().value());
        leases.forEach((lease) -> this.store.redrive(HOME, lease.deadLetterId()).join());
        checker.check(QUEUE.queue().value());
        leases.forEach((lease) -> inspector.find(HOME, lease.id()).join());
        leases.forEach((lease) -> this.store.cancel(HOME, lease.id()).join());
    }

    /** Sends small messages with the ids of large ones in one call. */
    private void keepBySmallOnes() {
        this.store
            .schedule(HOME,
                    IntStream.range(0, MESSAGES)
                        .mapToObj((number) -> NewMessage.of("message-" + number, DueTime.NOW, new byte[] { '1' }))
                        .toList())
            .join();
    }

    /** Waits until the leases end, whose messages have successors. */
    private void awaitLapse(List<Lease> leases) {
        long last = leases.stream().mapToLong((lease) -> Long.parseLong(lease.token())).max().orElseThrow();
        RedisQueueInspector queues = new RedisQueueInspector(this.redis);
        while (queues.counts(QUEUE).join().now().toEpochMilli() <= last / 1_000) {
            // Real time: leases end by Redis' clock.
            Thread.onSpinWait();
        }
    }

    private void measure(RedisServer server, String what, Runnable action) {
        this.calls.clear();
        server.commands().slowlogReset();
        action.run();
        Map<String, String> names = new TreeMap<>();
        LoadedScripts.texts().keySet().forEach((name) -> names.put(LoadedScripts.sha(name), name));
        Map<String, List<Long>> slow = new TreeMap<>();
        for (Object entry : server.commands().slowlogGet(1_000_000)) {
            List<?> fields = (List<?>) entry;
            List<?> command = (List<?>) fields.get(3);
            if (command.get(0).toString().equalsIgnoreCase("EVALSHA")) {
                slow.computeIfAbsent(names.get(command.get(1).toString()), (name) -> new ArrayList<>())
                    .add((Long) fields.get(2));
            }
        }
        System.out.printf("%s; load %.1f on %d cores%n", what,
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage(),
                Runtime.getRuntime().availableProcessors());
        new TreeMap<>(this.calls).forEach((name, count) -> {
            long[] times = new long[count];
            List<Long> known = slow.getOrDefault(name, List.of());
            for (int i = 0; i < Math.min(count, known.size()); i++) {
                times[i] = known.get(i);
            }
            Arrays.sort(times);
            System.out.printf("  %-14s %,6d calls: half %s, 99 %% %s, 99.9 %% %s, longest %s%n", name, count,
                    millis(times, 0.5), millis(times, 0.99), millis(times, 0.999), millis(times, 1));
        });
    }

    private static String millis(long[] sorted, double share) {
        long micros = sorted[Math.max(0, (int) Math.ceil(share * sorted.length) - 1)];
        return (micros < SLOW_MICROS) ? "< 0.5 ms" : "%,.1f ms".formatted(micros / 1_000.0);
    }

}
