package io.delayqueue.redis.wakeup;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.delayqueue.QueueName;
import io.delayqueue.fixtures.LogCount;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisCluster;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.RedisUser;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.store.Partition;
import io.lettuce.core.KillArgs;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * P3: {@code isSubscribed} is false from the loss of a subscription until it is
 * confirmed.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("server")
class LostSubscriptionTests {

    private static final Duration TIMEOUT = Duration.ofMinutes(1);

    private static final String USER = "shop";

    private static final Partition QUEUE = Partition.first(new QueueName("orders"));

    private static final List<String> RULES = Stream
        .concat(RedisUser.documented().stream(), RedisUser.documentedWith("+cluster|nodes").stream())
        .toList();

    private final Semaphore notified = new Semaphore(0);

    @ParameterizedTest
    @ValueSource(booleans = { false, true })
    void aLossIsReportedUntilTheServerHasSubscribedAgain(boolean blocking) throws Exception {
        try (RedisServer server = RedisServer.start(RedisBinary.preferred())) {
            RedisUser.set(server, USER, RULES);
            RedisConnectionFactory connections = connections(server, blocking);
            try (RedisScriptExecutor redis = RedisScriptExecutor.to(connections, USER, Duration.ofSeconds(30));
                    RedisWakeUps wakeUps = new RedisWakeUps(connections, redis, WakeUpMode.CHANNEL)) {
                wakeUps.listen(QUEUE, (signal) -> this.notified.release());
                awaitSubscribed(wakeUps, true);

                RedisUser.set(server, USER, List.of("resetchannels"));
                server.commands().clientKill(KillArgs.Builder.typePubsub());
                awaitSubscribed(wakeUps, false);
                Awaitility.await().atMost(TIMEOUT).until(() -> !server.commands().aclLog().isEmpty());
                assertThat(wakeUps.isSubscribed(QUEUE)).as("of a rejected client").isFalse();

                RedisUser.set(server, USER, RULES);
                awaitSubscribed(wakeUps, true);
                this.notified.drainPermits();
                server.commands().publish(redis.keysOf(QUEUE).wake(), "+0:0");
                assertThat(this.notified.tryAcquire(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isTrue();
            }
            finally {
                ((DisposableBean) connections).destroy();
            }
        }
    }

    @Test
    void aTopicThatTheServerRejectsLeavesTheOthersSubscribed(CapturedOutput output) throws Exception {
        Partition other = Partition.first(new QueueName("bills"));
        try (RedisServer server = RedisServer.start(RedisBinary.preferred())) {
            RedisUser.set(server, USER, RULES);
            RedisConnectionFactory connections = connections(server, false);
            try (RedisScriptExecutor redis = RedisScriptExecutor.to(connections, USER, Duration.ofSeconds(30));
                    RedisWakeUps wakeUps = new RedisWakeUps(connections, redis, WakeUpMode.CHANNEL)) {
                String channel = redis.keysOf(QUEUE).wake();
                wakeUps.listen(QUEUE, (signal) -> this.notified.release());
                awaitSubscribed(wakeUps, true);
                RedisUser.set(server, USER, List.of("resetchannels", "&" + channel));
                wakeUps.listen(other, (signal) -> {
                });
                Awaitility.await()
                    .atMost(TIMEOUT)
                    .until(() -> LogCount.of(output, "WARN", "Cannot subscribe to 'shop:{bills}:wake'") == 1);
                assertThat(wakeUps.isSubscribed(QUEUE)).isTrue();

                server.commands().clientKill(KillArgs.Builder.typePubsub());
                Awaitility.await()
                    .atMost(TIMEOUT)
                    .until(() -> server.commands().pubsubNumsub(channel).get(channel) == 1);
                awaitSubscribed(wakeUps, true);
                assertThat(wakeUps.isSubscribed(other)).isFalse();
                this.notified.drainPermits();
                server.commands().publish(channel, "+0:0");
                assertThat(this.notified.tryAcquire(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isTrue();

                RedisUser.set(server, USER, RULES);
                Awaitility.await().atMost(TIMEOUT).until(() -> wakeUps.isSubscribed(other));
                assertThat(wakeUps.isSubscribed(QUEUE)).isTrue();
            }
            finally {
                ((DisposableBean) connections).destroy();
            }
        }
    }

    /** A client that subscribes again does so with one command for all topics. */
    @Test
    void aTopicWhoseRightWasRevokedLeavesTheOthersSubscribed(CapturedOutput output) throws Exception {
        Partition other = Partition.first(new QueueName("bills"));
        try (RedisServer server = RedisServer.start(RedisBinary.preferred())) {
            RedisUser.set(server, USER, RULES);
            RedisConnectionFactory connections = connections(server, false);
            try (RedisScriptExecutor redis = RedisScriptExecutor.to(connections, USER, Duration.ofSeconds(30));
                    RedisWakeUps wakeUps = new RedisWakeUps(connections, redis, WakeUpMode.CHANNEL)) {
                wakeUps.listen(other, (signal) -> {
                });
                wakeUps.listen(QUEUE, (signal) -> this.notified.release());
                Awaitility.await()
                    .atMost(TIMEOUT)
                    .until(() -> wakeUps.isSubscribed(QUEUE) && wakeUps.isSubscribed(other));

                RedisUser.set(server, USER, List.of("resetchannels", "&" + redis.keysOf(QUEUE).wake()));

                Awaitility.await().atMost(TIMEOUT).until(() -> !wakeUps.isSubscribed(other));
                Awaitility.await()
                    .atMost(TIMEOUT)
                    .until(() -> server.commands().pubsubChannels().equals(List.of(redis.keysOf(QUEUE).wake())));
                awaitSubscribed(wakeUps, true);
                assertThat(wakeUps.isSubscribed(other)).isFalse();
                Awaitility.await()
                    .atMost(TIMEOUT)
                    .until(() -> LogCount.of(output, "INFO",
                            "Subscribed to wake-ups again, except those that the server rejects") == 1);
            }
            finally {
                ((DisposableBean) connections).destroy();
            }
        }
    }

    @Test
    @Tag("faults")
    void aLossIsReportedOnACluster() {
        try (RedisCluster cluster = RedisCluster.start(RedisBinary.preferred())) {
            cluster.masters().forEach((master) -> RedisUser.set(master, USER, RULES));
            RedisClusterConfiguration configuration = new RedisClusterConfiguration(cluster.nodes());
            configuration.setUsername(USER);
            configuration.setPassword(RedisUser.PASSWORD);
            LettuceConnectionFactory connections = ConnectionFactories
                .started(new LettuceConnectionFactory(configuration));
            try (RedisScriptExecutor redis = RedisScriptExecutor.to(connections, USER, Duration.ofSeconds(30));
                    RedisWakeUps wakeUps = new RedisWakeUps(connections, redis, WakeUpMode.CHANNEL)) {
                wakeUps.listen(QUEUE, (signal) -> this.notified.release());
                awaitSubscribed(wakeUps, true);

                cluster.masters().forEach((master) -> {
                    RedisUser.set(master, USER, List.of("resetchannels"));
                    master.commands().clientKill(KillArgs.Builder.typePubsub());
                });
                awaitSubscribed(wakeUps, false);
                cluster.masters().forEach((master) -> RedisUser.set(master, USER, RULES));
                awaitSubscribed(wakeUps, true);
            }
            finally {
                connections.destroy();
            }
        }
    }

    private static void awaitSubscribed(RedisWakeUps wakeUps, boolean subscribed) {
        Awaitility.await().atMost(TIMEOUT).until(() -> wakeUps.isSubscribed(QUEUE) == subscribed);
    }

    private static RedisConnectionFactory connections(RedisServer server, boolean blocking) {
        RedisStandaloneConfiguration configuration = new RedisStandaloneConfiguration(server.host(), server.port());
        configuration.setUsername(USER);
        configuration.setPassword(RedisUser.PASSWORD);
        if (!blocking) {
            return ConnectionFactories.started(new LettuceConnectionFactory(configuration));
        }
        JedisConnectionFactory jedis = new JedisConnectionFactory(configuration);
        jedis.afterPropertiesSet();
        jedis.start();
        return jedis;
    }

}
