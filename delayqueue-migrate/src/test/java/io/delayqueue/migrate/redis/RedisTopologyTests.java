package io.delayqueue.migrate.redis;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisCluster;
import io.delayqueue.fixtures.redis.RedisSentinel;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.migrate.MigrationSource;
import io.delayqueue.migrate.EntryOutcome;
import io.delayqueue.migrate.SourceEntry;
import io.delayqueue.migrate.SourceException;
import io.delayqueue.migrate.SourceOptions;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.sync.RedisClusterCommands;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Moves queues of a cluster, and of a master that sentinels name. */
@Tag("server")
@Tag("matrix")
class RedisTopologyTests {

    private static final long DUE = 1_900_000_000_000L;

    /** Queues of Redisson, among them ones with a hash tag of their own. */
    private static final List<String> QUEUES = IntStream.range(0, 24)
        .mapToObj((number) -> (number < 20) ? "orders-" + number : "{shop%d}:orders".formatted(number))
        .toList();

    @Test
    void eachQueueOfAClusterIsMovedInItsOwnSlot() {
        try (RedisCluster cluster = RedisCluster.startWithoutFailover(RedisBinary.preferred());
                MigrationSource redisson = new RedissonSource();
                MigrationSource rqueue = new RqueueSource()) {
            QUEUES.forEach((queue) -> addRedisson(cluster.commands(), queue));
            QUEUES.stream().limit(20).forEach((queue) -> addRqueue(cluster.commands(), queue));

            redisson.open(options(url(cluster)));
            assertThat(redisson.queues()).containsExactlyInAnyOrderElementsOf(QUEUES);
            QUEUES.forEach((queue) -> move(redisson, queue, "redisson_delay_queue:" + tagged(queue), cluster));
            rqueue.open(options(url(cluster)));
            assertThat(rqueue.queues()).hasSize(20).contains("orders-7");
            rqueue.queues().forEach((queue) -> move(rqueue, queue, "__rq::d-queue::{" + queue + "}", cluster));

            QUEUES.forEach((queue) -> redisson.finish(queue, () -> false));
            rqueue.queues().forEach((queue) -> rqueue.finish(queue, () -> false));
            assertThat(cluster.commands().keys("*")).allMatch((key) -> key.startsWith("__rq::m-mdata::"));
        }
    }

    /** Takes two entries of a queue, of which Rqueue has marked one as deleted. */
    private static void move(MigrationSource source, String queue, String key, RedisCluster cluster) {
        source.own(queue);
        List<SourceEntry> entries = source.take(queue, "batch", 10);
        assertThat(entries).hasSize(2);
        assertThat(entries.get(1).drop() != null).isEqualTo(source instanceof RqueueSource);
        assertThat(source.unsettled(queue, 10)).hasSize(2);
        source.settle(queue, List.of(EntryOutcome.sent("batch-1"), EntryOutcome.sent("batch-2")));

        assertThat(source.status(queue).sent()).isEqualTo(2);
        assertThat(source.status(queue).waiting()).isZero();
        assertThat(cluster.commands().keys("delayqueue_migrate:*").stream().map(SlotHash::getSlot))
            .contains(SlotHash.getSlot(key));
    }

    @Test
    void aNodeOfTheUrlThatIsDownIsPassedOverAndAFailoverIsFollowed() {
        try (RedisCluster cluster = RedisCluster.start(RedisBinary.preferred(), 1);
                MigrationSource source = new RedissonSource()) {
            addRedisson(cluster.commands(), "orders");
            RedisServer master = cluster.masterOf("redisson_delay_queue:{orders}");
            Awaitility.await()
                .until(() -> cluster.replicas()
                    .get(cluster.masters().indexOf(master))
                    .commands()
                    .info("keyspace")
                    .contains("keys="));
            source.open(options("redis://127.0.0.1:1," + url(cluster)));
            source.own("orders");

            master.kill();
            cluster.failover(master);

            Awaitility.await()
                .ignoreExceptionsMatching((ex) -> source.isPassing((RuntimeException) ex))
                .until(() -> source.take("orders", "batch", 10).size() == 2);
            assertThat(source.status("orders").unsettled()).isEqualTo(2);
        }
    }

    @Test
    void theMasterThatSentinelsNameIsUsedAlsoAfterAFailover() {
        try (RedisSentinel group = RedisSentinel.start(RedisBinary.preferred());
                MigrationSource source = new RedissonSource()) {
            addRedisson(group.commands(), "orders");
            Awaitility.await().until(() -> group.replica().commands().info("keyspace").contains("keys="));
            String sentinels = group.uri()
                .getSentinels()
                .stream()
                .map((uri) -> uri.getHost() + ":" + uri.getPort())
                .collect(Collectors.joining(","));
            source.open(options("redis-sentinel://%s#%s".formatted(sentinels, RedisSentinel.MASTER_NAME)));
            source.own("orders");

            group.failover();

            Awaitility.await()
                .ignoreExceptionsMatching((ex) -> source.isPassing((RuntimeException) ex))
                .until(() -> source.take("orders", "batch", 10).size() == 2);
            assertThat(source.status("orders").unsettled()).isEqualTo(2);
        }
    }

    @Test
    void anAddressWithoutASchemeBehindACommaIsOneOfTheSameKind() {
        try (RedisServer redis = RedisServer.start(RedisBinary.preferred());
                MigrationSource source = new RedissonSource()) {
            assertThatExceptionOfType(SourceException.class)
                .isThrownBy(() -> source.open(options("redis://127.0.0.1:1,127.0.0.1:2")))
                .withMessageContaining("127.0.0.1:1")
                .withMessageContaining("127.0.0.1:2");

            source.open(options("redis://127.0.0.1:1,127.0.0.1:" + redis.port()));

            assertThat(source.queues()).isEmpty();
        }
    }

    private static SourceOptions options(String url) {
        return new SourceOptions(url, null, null, Map.of());
    }

    private static String url(RedisCluster cluster) {
        return cluster.nodes().stream().map((node) -> "redis://" + node).collect(Collectors.joining(","));
    }

    private static String tagged(String queue) {
        return queue.contains("{") ? queue : "{" + queue + "}";
    }

    /** Writes two entries as Redisson does. */
    private static void addRedisson(RedisClusterCommands<String, String> redis, String queue) {
        for (int i = 0; i < 2; i++) {
            byte[] value = ("{\"number\":" + i + "}").getBytes(StandardCharsets.US_ASCII);
            byte[] member = ByteBuffer.allocate(17 + value.length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put((byte) 8)
                .putLong(i)
                .putLong(value.length)
                .put(value)
                .array();
            String text = new String(member, StandardCharsets.US_ASCII);
            redis.zadd("redisson_delay_queue_timeout:" + tagged(queue), DUE + i, text);
            redis.rpush("redisson_delay_queue:" + tagged(queue), text);
        }
    }

    /** Writes two messages as Rqueue does, and its mark that the second is deleted. */
    private static void addRqueue(RedisClusterCommands<String, String> redis, String queue) {
        for (int i = 0; i < 2; i++) {
            redis.zadd("__rq::d-queue::{" + queue + "}", DUE + i,
                    "{\"id\":\"order-%d\",\"message\":\"1\",\"processAt\":%d,\"period\":0}".formatted(i, DUE + i));
        }
        redis.set("__rq::m-mdata::" + queue + "::order-1", "{\"deleted\":true}");
    }

}
