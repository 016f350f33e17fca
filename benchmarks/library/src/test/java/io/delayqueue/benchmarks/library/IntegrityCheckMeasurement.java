package io.delayqueue.benchmarks.library;

import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.SendResult;
import io.delayqueue.admin.DelayQueueIntegrityChecker;
import io.delayqueue.admin.IntegrityReport;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.redis.RedisMessageStore;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.redis.check.RedisIntegrityChecker;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Measures an integrity check of a million messages, or {@code -Ddq.messages}, and its
 * calls beside claims of 100. Prints how long the check and the scripts took, and the
 * load of the machine.
 */
@Timeout(value = 1, unit = TimeUnit.HOURS)
class IntegrityCheckMeasurement {

    private static final int MESSAGES = Integer.getInteger("dq.messages", 1_000_000);

    private static final int AT_ONCE = 100;

    private static final int CALLS_UNDER_WAY = 50;

    private static final int CLAIMS = 500;

    private static final Partition QUEUE = Partition.first(new QueueName("large"));

    private static final byte[] ENVELOPE = "{\"payload\":{\"text\":\"%s\"}}".formatted("x".repeat(80))
        .getBytes(StandardCharsets.US_ASCII);

    @Test
    void checksMessages() {
        try (RedisServer server = RedisServer.start(RedisBinary.preferred(),
                "latency-tracking-info-percentiles 50 99 99.9 100", "slowlog-log-slower-than 10000",
                "slowlog-max-len 1000")) {
            LettuceConnectionFactory connections = ConnectionFactories.lettuce(server);
            RedisScriptExecutor redis = new RedisScriptExecutor(
                    RedisScriptExecutor.runner(connections, Duration.ofMinutes(1)), "measured");
            RedisMessageStore store = new RedisMessageStore(redis);
            DelayQueueIntegrityChecker checker = new RedisIntegrityChecker(redis, () -> connections,
                    new EnvelopeCodec(JsonMapper.builder().build()));
            fill(store);
            measure("check", server, () -> {
                IntegrityReport report = checker.check(QUEUE.queue().value());
                assertThat(report).isEqualTo(new IntegrityReport(MESSAGES, List.of(), true));
            });
            measure("checkKeys", server, () -> assertThat(checker.checkKeys().isSound()).isTrue());
            measure(CLAIMS + " claims of " + AT_ONCE, server, () -> {
                for (int i = 0; i < CLAIMS; i++) {
                    store.claim(QUEUE, new ClaimRequest(AT_ONCE, Duration.ofHours(1), ExpiryPolicy.DROP)).join();
                }
            });
            connections.destroy();
        }
    }

    private static void fill(RedisMessageStore store) {
        List<CompletableFuture<List<SendResult>>> underWay = new ArrayList<>();
        for (int from = 0; from < MESSAGES; from += AT_ONCE) {
            List<NewMessage> messages = IntStream.range(from, Math.min(from + AT_ONCE, MESSAGES))
                .mapToObj((number) -> new NewMessage("message-" + number, false, DueTime.after(Duration.ZERO),
                        OnDuplicate.KEEP, 4, null, null, ENVELOPE))
                .toList();
            underWay.add(store.schedule(PartitionTarget.first(QUEUE.queue()), messages));
            if (underWay.size() == CALLS_UNDER_WAY) {
                underWay.forEach(CompletableFuture::join);
                underWay.clear();
            }
        }
        underWay.forEach(CompletableFuture::join);
    }

    private static void measure(String what, RedisServer server, Runnable action) {
        server.commands().configResetstat();
        server.commands().slowlogReset();
        long start = System.nanoTime();
        action.run();
        long took = System.nanoTime() - start;
        System.out.printf("%s, %,d messages: %,d ms; load %.1f on %d cores; %d commands of 10 ms or more%n", what,
                MESSAGES, took / 1_000_000, ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage(),
                Runtime.getRuntime().availableProcessors(), server.commands().slowlogLen());
        for (String section : List.of("commandstats", "latencystats")) {
            server.commands()
                .info(section)
                .lines()
                .filter((line) -> line.contains("evalsha:") || line.contains("evalsha_")
                        || line.contains("usec_evalsha"))
                .forEach((line) -> System.out.println("  " + line));
        }
    }

}
