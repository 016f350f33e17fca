package io.delayqueue.redis;

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
import io.delayqueue.redis.check.RedisIntegrityChecker;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.testing.RedisBinary;
import io.delayqueue.testing.RedisServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Measures an examination of a million messages, or {@code -Ddq.messages}, and its calls
 * beside claims of 100. Not part of the suite; prints how long it took, how long the
 * scripts took and the machine's load.
 */
@Timeout(value = 1, unit = TimeUnit.HOURS)
class DoctorMeasurement {

    private static final int MESSAGES = Integer.getInteger("dq.messages", 1_000_000);

    private static final int AT_ONCE = 100;

    private static final int CALLS_UNDER_WAY = 50;

    private static final int CLAIMS = 500;

    private static final Partition QUEUE = Partition.first(new QueueName("large"));

    private static final byte[] ENVELOPE = "{\"payload\":{\"text\":\"%s\"}}".formatted("x".repeat(80))
        .getBytes(StandardCharsets.US_ASCII);

    @Test
    void messagesAreExamined() {
        try (RedisServer server = RedisServer.start(RedisBinary.preferred(),
                "latency-tracking-info-percentiles 50 99 99.9 100", "slowlog-log-slower-than 10000",
                "slowlog-max-len 1000")) {
            LettuceConnectionFactory connections = Connections.lettuce(server);
            RedisScriptExecutor redis = new RedisScriptExecutor(
                    RedisScriptExecutor.runner(connections, Duration.ofMinutes(1)), "measured");
            RedisMessageStore store = new RedisMessageStore(redis);
            DelayQueueIntegrityChecker doctor = new RedisIntegrityChecker(redis, () -> connections,
                    new EnvelopeCodec(JsonMapper.builder().build()));
            fill(store);
            measure("examine", server, () -> {
                IntegrityReport examination = doctor.examine(QUEUE.queue().value());
                assertThat(examination).isEqualTo(new IntegrityReport(MESSAGES, List.of(), true));
            });
            measure("examineKeys", server, () -> assertThat(doctor.examineKeys().isSound()).isTrue());
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
