package io.delayqueue.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.fixtures.ManualClock;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.store.PinnedTimeRunner;
import io.delayqueue.store.ActivityReport;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.DeadLetterRequest;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Lease;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.NodeRegistry;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.Pause;
import io.delayqueue.store.PrimaryPollerBid;
import io.delayqueue.store.PrimaryPollerBid.Kind;
import io.delayqueue.store.UnstartedLease;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Verifies P3 on a Redis whose memory is full, with and without a pause: all calls of
 * workers succeed, so no worker backs off or reports an outage.
 */
@Tag("server")
@Tag("matrix")
class FullRedisStoreTests {

    private static final Duration LEASE = Duration.ofSeconds(30);

    private static final PartitionTarget HOME = PartitionTarget.first(new QueueName("full"));

    private static final Partition QUEUE = HOME.partition();

    private final ManualClock clock = new ManualClock();

    static Stream<Arguments> serversAndPauses() {
        return Stream.of(RedisBinary.REDIS_6_2, RedisBinary.REDIS_7_0)
            .flatMap((binary) -> Stream.of(Arguments.of(binary, true), Arguments.of(binary, false)));
    }

    @ParameterizedTest
    @MethodSource("serversAndPauses")
    void claimsSucceedForPrimaryPollersAndStandbyNodes(RedisBinary binary, boolean paused) {
        try (RedisServer server = RedisServer.start(binary)) {
            for (String content : List.of("nothing", "waits", "due", "lapsed", "expired", "retried")) {
                for (Kind kind : Kind.values()) {
                    LettuceConnectionFactory connections = ConnectionFactories.lettuce(server);
                    RedisScriptExecutor redis = access(connections, content + "-" + kind);
                    RedisMessageStore store = new RedisMessageStore(redis);
                    store(store, content);
                    pause(redis, paused);
                    server.commands().configSet("maxmemory", "1");

                    ClaimResult claim = store
                        .claim(QUEUE,
                                new ClaimRequest(10, LEASE, ExpiryPolicy.DEAD_LETTER,
                                        new PrimaryPollerBid("node", kind, 0, LEASE)))
                        .join();

                    assertThat(claim.primaryPoller()).as("%s, %s", content, kind).isTrue();
                    boolean returnsMessage = !paused && List.of("due", "lapsed", "retried").contains(content);
                    assertThat(claim.messages()).as("%s, %s", content, kind).hasSize(returnsMessage ? 1 : 0);
                    assertThat(store.claim(QUEUE, new ClaimRequest(10, LEASE, ExpiryPolicy.DROP)).join().messages())
                        .isEmpty();
                    assertThat(store.resign(QUEUE, "node").join()).isEqualTo(kind != Kind.RENEW);
                    server.commands().configSet("maxmemory", "0");
                    connections.destroy();
                }
            }
        }
    }

    private void store(RedisMessageStore store, String content) {
        if (content.equals("nothing")) {
            return;
        }
        Duration timeToLive = content.equals("expired") ? LEASE : null;
        store.schedule(HOME,
                List.of(new NewMessage("a", false,
                        DueTime.after(content.equals("waits") ? LEASE.multipliedBy(9) : Duration.ZERO),
                        OnDuplicate.KEEP, 4, timeToLive, null, envelope())))
            .join();
        if (content.equals("lapsed") || content.equals("retried")) {
            Lease lease = claim(store).get(0);
            if (content.equals("retried")) {
                store.retry(lease, Duration.ZERO, "boom").join();
            }
        }
        this.clock.advance(LEASE);
    }

    @ParameterizedTest
    @MethodSource("serversAndPauses")
    void leasesCanBeSettled(RedisBinary binary, boolean paused) {
        try (RedisServer server = RedisServer.start(binary)) {
            LettuceConnectionFactory connections = ConnectionFactories.lettuce(server);
            RedisScriptExecutor redis = access(connections, "settled");
            RedisMessageStore store = new RedisMessageStore(redis);
            store
                .schedule(HOME,
                        IntStream.range(0, 20)
                            .mapToObj((i) -> NewMessage.of("m%02d".formatted(i), DueTime.NOW, envelope()))
                            .toList())
                .join();
            claim(store);
            this.clock.advance(LEASE);
            List<Lease> redelivered = claim(store);
            pause(redis, paused);
            server.commands().configSet("maxmemory", "1");

            assertThat(redelivered).hasSize(20);
            Map<String, Boolean> done = new LinkedHashMap<>();
            done.put("start", store.start(redelivered.get(0)).join());
            done.put("extend",
                    store.extend(QUEUE, redelivered, LEASE.multipliedBy(2)).join().stream().allMatch((b) -> b));
            done.put("retry", store.retry(redelivered.get(0), LEASE, "boom").join());
            done.put("release",
                    store.release(QUEUE, redelivered.subList(1, 3), LEASE).join().equals(List.of(true, true)));
            done.put("release unbegun",
                    store.release(QUEUE, List.of(new UnstartedLease(redelivered.get(3), this.clock.now())))
                        .join()
                        .get(0));
            done.put("dead-letter",
                    store.deadLetter(redelivered.get(4), new DeadLetterRequest("enough", true, Instant.EPOCH)).join());
            done.put("acknowledge one", store.acknowledge(QUEUE, redelivered.subList(5, 6)).join().get(0));
            done.put("acknowledge", !store.acknowledge(QUEUE, redelivered.subList(6, 20)).join().contains(false));
            done.put("purge", store.purgeOlderThan(QUEUE, Duration.ZERO).join() == 1);

            assertThat(done).allSatisfy((call, effect) -> assertThat(effect).as(call).isTrue());
            connections.destroy();
        }
    }

    @ParameterizedTest
    @MethodSource("serversAndPauses")
    void nodesQueuesAndLayoutsAreStored(RedisBinary binary, boolean paused) {
        try (RedisServer server = RedisServer.start(binary)) {
            LettuceConnectionFactory connections = ConnectionFactories.lettuce(server);
            RedisScriptExecutor redis = access(connections, "recorded");
            RedisPartitionLayoutStore records = new RedisPartitionLayoutStore(redis);
            NodeRegistry nodes = new RedisNodeRegistry(redis);
            RedisQueueRegistry queues = new RedisQueueRegistry(redis);
            pause(redis, paused);
            server.commands().configSet("maxmemory", "1");

            nodes.report("first", "report".getBytes(StandardCharsets.UTF_8)).join();
            nodes.report("second", "report".getBytes(StandardCharsets.UTF_8)).join();
            nodes.remove("first").join();
            queues.add(QUEUE.queue()).join();
            String name = QUEUE.queue().value();
            RedisActivityStore activity = new RedisActivityStore(redis);
            activity
                .report(new ActivityReport("first", 1, Duration.ZERO, Map.of(name, new long[ActivityReport.FIELDS])))
                .join();
            PartitionLayout layout = new PartitionLayout(9, List.of(1, 4), true);
            records.raise(QUEUE, layout).join();

            assertThat(nodes.list().join()).extracting(NodeRegistry.Report::node).containsExactly("second");
            assertThat(queues.list("", 10).join()).containsExactly(QUEUE.queue());
            assertThat(activity.read(name).join().recorded()).isTrue();
            assertThat(records.read(QUEUE).join()).contains(layout);
            byte[] secret = new byte[32];
            secret[0] = 7;
            assertThat(new RedisSecretStore(redis).getOrCreate(secret).join()).isEqualTo(secret);
            connections.destroy();
        }
    }

    private RedisScriptExecutor access(LettuceConnectionFactory connections, String namespace) {
        return new RedisScriptExecutor(
                new PinnedTimeRunner(RedisScriptExecutor.runner(connections, Duration.ofSeconds(30)), this.clock),
                namespace);
    }

    private static void pause(RedisScriptExecutor redis, boolean paused) {
        if (paused) {
            new RedisPartitionLayoutStore(redis).raise(QUEUE, new PartitionLayout(3, List.of(1), true, new Pause(null)))
                .join();
        }
    }

    private static List<Lease> claim(RedisMessageStore store) {
        return store.claim(QUEUE, new ClaimRequest(100, LEASE, ExpiryPolicy.DROP))
            .join()
            .messages()
            .stream()
            .map(ClaimedMessage::lease)
            .toList();
    }

    private static byte[] envelope() {
        return "{\"payload\":1}".getBytes(StandardCharsets.UTF_8);
    }

}
