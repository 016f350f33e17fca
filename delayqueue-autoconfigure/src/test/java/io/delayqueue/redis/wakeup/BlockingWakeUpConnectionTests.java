package io.delayqueue.redis.wakeup;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.delayqueue.QueueName;
import io.delayqueue.QueueStatistics;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisCluster;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.redis.RedisMessageInspector;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.store.Partition;
import io.delayqueue.store.WakeUps;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.lettuce.core.ClientListArgs;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.timeout;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;

/**
 * P1, P5: with a client that waits while it is subscribed, the end of a subscription
 * leaves no answer behind that the next user of the connection would read.
 */
@Tag("server")
class BlockingWakeUpConnectionTests {

    private static final int ROUNDS = 100;

    private static final Partition QUEUE = Partition.first(new QueueName("q"));

    private static final int POOL = 8;

    @ParameterizedTest
    @EnumSource(names = { "CHANNEL", "KEYSPACE" })
    void connectionsAreCleanAfterSubscriptions(WakeUpMode mode) throws InterruptedException {
        JedisConnectionFactory factory = ConnectionFactories.jedis(RedisServer.shared(RedisBinary.preferred()));
        RedisScriptExecutor redis = RedisScriptExecutor.to(factory, "blocking-" + UUID.randomUUID(),
                Duration.ofSeconds(30));
        RedisMessageInspector inspector = new RedisMessageInspector(redis,
                new EnvelopeCodec(JsonMapper.builder().build()));
        try (RedisWakeUps wakeUps = new RedisWakeUps(factory, redis, mode, Duration.ZERO)) {
            for (int round = 0; round < ROUNDS; round++) {
                Semaphore notified = new Semaphore(0);
                WakeUps.Subscription subscription = wakeUps.listen(QUEUE, (signal) -> notified.release());
                assertThat(notified.tryAcquire(30, TimeUnit.SECONDS)).isTrue();

                subscription.close();

                for (int call = 0; call < 10; call++) {
                    assertThat(inspector.statistics(QUEUE).join())
                        .isEqualTo(new QueueStatistics("q", 0, 0, 0, 0, null));
                }
            }
        }
        finally {
            factory.destroy();
        }
    }

    @ParameterizedTest
    @EnumSource(names = { "CHANNEL", "KEYSPACE" })
    void oneConnectionServesMoreQueuesThanThePoolHas(WakeUpMode mode) throws InterruptedException {
        try (RedisServer server = RedisServer.start(RedisBinary.preferred(), "notify-keyspace-events Kz")) {
            JedisConnectionFactory factory = ConnectionFactories.jedis(server);
            RedisScriptExecutor redis = RedisScriptExecutor.to(factory, "dq", Duration.ofSeconds(30));
            RedisWakeUps wakeUps = new RedisWakeUps(factory, redis, mode, Duration.ZERO);
            List<Semaphore> notified = new ArrayList<>();
            List<WakeUps.Subscription> subscriptions = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                Semaphore rings = new Semaphore(0);
                notified.add(rings);
                subscriptions.add(wakeUps.listen(Partition.first(new QueueName("q" + i)), (signal) -> rings.release()));
            }
            await().until(() -> topics(server, mode) == 20);
            for (int i = 0; i < 20; i++) {
                await().until(() -> clients(server) == 1);
                notified.get(i).drainPermits();
                wake(factory, mode, "dq:{q" + i + "}:");
                assertThat(notified.get(i).tryAcquire(30, TimeUnit.SECONDS)).isTrue();
            }

            subscriptions.subList(1, 20).forEach(WakeUps.Subscription::close);
            await().until(() -> topics(server, mode) == 1);
            notified.get(0).drainPermits();
            wake(factory, mode, "dq:{q0}:");
            assertThat(notified.get(0).tryAcquire(30, TimeUnit.SECONDS)).isTrue();

            subscriptions.get(0).close();
            await().until(() -> clients(server) == 0);
            List<RedisConnection> all = Stream.generate(factory::getConnection).limit(POOL).toList();
            all.forEach((connection) -> assertThat(connection.ping()).isEqualTo("PONG"));
            all.forEach(RedisConnection::close);
            wakeUps.close();
            factory.destroy();
        }
    }

    private static void wake(JedisConnectionFactory factory, WakeUpMode mode, String stem) {
        try (RedisConnection connection = factory.getConnection()) {
            if (mode == WakeUpMode.CHANNEL) {
                connection.publish((stem + "wake").getBytes(StandardCharsets.UTF_8), new byte[0]);
            }
            else {
                connection.zSetCommands()
                    .zAdd((stem + "scheduled").getBytes(StandardCharsets.UTF_8), 1,
                            UUID.randomUUID().toString().getBytes(StandardCharsets.UTF_8));
            }
        }
    }

    /** Counts the queues that have a subscriber on the server. */
    private static long topics(RedisServer server, WakeUpMode mode) {
        return (mode == WakeUpMode.KEYSPACE) ? server.commands().pubsubNumpat()
                : server.commands().pubsubChannels().stream().filter((name) -> !name.contains(":control:")).count();
    }

    private static long clients(RedisServer server) {
        return server.commands().clientList(ClientListArgs.Builder.typePubsub()).lines().count();
    }

    /**
     * A queue gets its last listener removed and a first one added before the subscribed
     * thread applies either.
     */
    @ParameterizedTest
    @EnumSource(names = { "CHANNEL", "KEYSPACE" })
    void aQueueThatReplacesOneOfItsTopicIsConfirmed(WakeUpMode mode) throws InterruptedException {
        try (RedisServer server = RedisServer.start(RedisBinary.preferred(), "notify-keyspace-events Kz")) {
            JedisConnectionFactory factory = ConnectionFactories.jedis(server);
            ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
            BlockingWakeUpConnection subscription = new BlockingWakeUpConnection(factory, mode,
                    "dq:{delayqueue}:control:1", timer, Duration.ofHours(1));
            String topic = (mode == WakeUpMode.CHANNEL) ? "dq:{q}:wake" : "__keyspace@*__:dq:{q}:scheduled*";
            CountDownLatch blocked = new CountDownLatch(1);
            CountDownLatch replaced = new CountDownLatch(1);
            PartitionListeners old = new PartitionListeners(QUEUE, topic, null);
            subscription.add(old);
            await().until(old::isConfirmed);
            old.add((signal) -> {
                blocked.countDown();
                pass(replaced);
            });
            wake(factory, mode, "dq:{q}:");
            blocked.await();

            PartitionListeners added = new PartitionListeners(QUEUE, topic, null);
            subscription.remove(old);
            subscription.add(added);
            replaced.countDown();

            await().until(added::isConfirmed);
            subscription.close();
            timer.shutdown();
            factory.destroy();
        }
    }

    private static void pass(CountDownLatch latch) {
        try {
            latch.await();
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

    /** More often than the pool has connections. */
    @Test
    void aDroppedConnectionToAClusterIsClosed() {
        try (RedisCluster cluster = RedisCluster.start(RedisBinary.preferred())) {
            JedisConnectionFactory factory = ConnectionFactories.jedis(cluster);
            ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
            BlockingWakeUpConnection subscription = new BlockingWakeUpConnection(factory, WakeUpMode.CHANNEL,
                    "dq:{delayqueue}:control:1", timer, Duration.ofHours(1));
            PartitionListeners queue = new PartitionListeners(QUEUE, "dq:{q}:wake", null);
            subscription.add(queue);
            for (int i = 0; i < 3 * POOL + 1; i++) {
                await().until(queue::isConfirmed);
                subscription.drop();
            }
            await().until(queue::isConfirmed);
            await()
                .until(() -> cluster.masters().stream().mapToLong(BlockingWakeUpConnectionTests::clients).sum() == 1);
            subscription.close();
            timer.shutdown();
            factory.destroy();
        }
    }

    /** P3: as when no thread can be started. */
    @Test
    void aThreadThatEndsWithAnErrorIsReplaced() {
        JedisConnectionFactory real = ConnectionFactories.jedis(RedisServer.shared(RedisBinary.preferred()));
        RedisConnectionFactory factory = mock(RedisConnectionFactory.class);
        given(factory.getConnection()).willThrow(new InternalError("for this test"))
            .willAnswer((call) -> real.getConnection());
        ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
        BlockingWakeUpConnection subscription = new BlockingWakeUpConnection(factory, WakeUpMode.CHANNEL,
                "dq:{delayqueue}:control:" + UUID.randomUUID(), timer, Duration.ofMillis(200));
        PartitionListeners queue = new PartitionListeners(QUEUE, "dq:{q}:wake", null);

        subscription.add(queue);

        await().dontCatchUncaughtExceptions().atMost(Duration.ofMinutes(1)).until(queue::isConfirmed);
        subscription.close();
        timer.shutdown();
        real.destroy();
    }

    @Test
    void aClientThatDoesNotWaitKeepsItsConnection() {
        RedisConnectionFactory factory = mock(RedisConnectionFactory.class);
        RedisConnection connection = mock(RedisConnection.class);
        given(factory.getConnection()).willReturn(connection);
        given(connection.isSubscribed()).willReturn(true);
        ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
        BlockingWakeUpConnection subscription = new BlockingWakeUpConnection(factory, WakeUpMode.CHANNEL,
                "dq:{delayqueue}:control:1", timer, SubscriptionHeartbeat.PERIOD);
        subscription.add(new PartitionListeners(QUEUE, "a", null));

        verify(connection, timeout(60_000).atLeast(3)).isSubscribed();
        verify(factory, times(1)).getConnection();
        subscription.close();
        verify(connection, timeout(60_000).atLeastOnce()).close();
        timer.shutdown();
    }

}
