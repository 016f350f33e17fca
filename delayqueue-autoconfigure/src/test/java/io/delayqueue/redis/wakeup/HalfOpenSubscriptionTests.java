package io.delayqueue.redis.wakeup;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import io.delayqueue.QueueName;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.RedisUser;
import io.delayqueue.fixtures.redis.TcpProxy;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.redis.script.RedisKeys;
import io.delayqueue.store.Partition;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.protocol.ProtocolVersion;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * P3: a subscription is replaced if its connection is open at both ends while the network
 * drops all packets.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("server")
@Tag("matrix")
class HalfOpenSubscriptionTests {

    private static final Duration TIMEOUT = Duration.ofMinutes(1);

    private static final Duration PERIOD = Duration.ofMillis(500);

    private static final String USER = "shop";

    private static final List<String> RULES = RedisUser.documented();

    private static final Partition QUEUE = Partition.first(new QueueName("orders"));

    private final Semaphore notified = new Semaphore(0);

    private RedisServer server;

    private TcpProxy proxy;

    @BeforeEach
    void start() {
        this.server = RedisServer.start(RedisBinary.preferred(), "notify-keyspace-events Kz");
        this.proxy = TcpProxy.to(this.server);
    }

    @AfterEach
    void stop() {
        this.proxy.close();
        this.server.close();
    }

    @ParameterizedTest
    @CsvSource({ "RESP3, CHANNEL", "RESP2, CHANNEL", "RESP3, KEYSPACE", "JEDIS, CHANNEL", "JEDIS, KEYSPACE" })
    void aHalfOpenConnectionIsDetectedAndReplaced(String client, WakeUpMode mode, CapturedOutput output)
            throws Exception {
        RedisConnectionFactory connections = connections(client);
        try (RedisScriptExecutor redis = RedisScriptExecutor.to(connections, "dq", Duration.ofSeconds(30));
                RedisWakeUps wakeUps = wakeUps(connections, redis, mode)) {
            wakeUps.listen(QUEUE, (signal) -> this.notified.release());
            awaitSubscribed(wakeUps, true);
            awaitBeats();
            assertThat(output).doesNotContain("Nothing is received");
            this.notified.drainPermits();

            assertThat(this.proxy.swallowSubscriptions()).isOne();

            assertThat(isNotified()).as("to poll for missed messages").isTrue();
            Awaitility.await().atMost(TIMEOUT).until(() -> output.getAll().contains("Nothing is received"));
            awaitSubscribed(wakeUps, true);
            this.notified.drainPermits();
            wake(redis, mode);
            assertThat(isNotified()).as("by a wake-up").isTrue();
        }
        finally {
            ((DisposableBean) connections).destroy();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = { "RESP3", "RESP2" })
    void aHalfOpenSubscriptionIsReportedUntilTheServerConfirmsItAgain(String client) throws Exception {
        RedisUser.set(this.server, USER, RULES);
        RedisConnectionFactory connections = connections(client, USER);
        try (RedisScriptExecutor redis = RedisScriptExecutor.to(connections, USER, Duration.ofSeconds(30));
                RedisWakeUps wakeUps = wakeUps(connections, redis, WakeUpMode.CHANNEL)) {
            wakeUps.listen(QUEUE, (signal) -> this.notified.release());
            awaitSubscribed(wakeUps, true);
            this.proxy.swallowSubscriptions();
            RedisUser.set(this.server, USER, List.of("resetchannels"));

            awaitSubscribed(wakeUps, false);
            Awaitility.await().atMost(TIMEOUT).until(() -> !this.server.commands().aclLog().isEmpty());
            assertThat(wakeUps.isSubscribed(QUEUE)).as("of a rejected client").isFalse();

            RedisUser.set(this.server, USER, RULES);
            awaitSubscribed(wakeUps, true);
        }
        finally {
            ((DisposableBean) connections).destroy();
        }
    }

    /**
     * Without an answer to expect, silence proves nothing: each connection would be
     * replaced.
     */
    @ParameterizedTest
    @ValueSource(strings = { "RESP3", "RESP2", "JEDIS" })
    void aConnectionIsKeptIfTheUserMayNotSendTheRequest(String client, CapturedOutput output) throws Exception {
        RedisUser.set(this.server, USER, RULES);
        RedisConnectionFactory connections = connections(client, USER);
        try (RedisScriptExecutor redis = RedisScriptExecutor.to(connections, USER, Duration.ofSeconds(30));
                RedisWakeUps wakeUps = wakeUps(connections, redis, WakeUpMode.CHANNEL)) {
            wakeUps.listen(QUEUE, (signal) -> this.notified.release());
            awaitSubscribed(wakeUps, true);
            RedisUser.set(this.server, USER, List.of("-ping", "-publish"));
            int refused = this.server.commands().aclLog().size();
            this.notified.drainPermits();

            // Redis counts entries that are alike.
            Awaitility.await().atMost(TIMEOUT).until(() -> rejections() > 1);

            assertThat(refused).isZero();
            assertThat(wakeUps.isSubscribed(QUEUE)).isTrue();
            assertThat(output).doesNotContain("Nothing is received");
            wake(redis, WakeUpMode.CHANNEL);
            assertThat(isNotified()).isTrue();
        }
        finally {
            ((DisposableBean) connections).destroy();
        }
    }

    /** No connection is left, as each would take a place in the pool of the client. */
    @ParameterizedTest
    @ValueSource(strings = { "JEDIS", "RESP3" })
    void repeatedHalfOpenConnectionsAreDetectedAndReplaced(String client) throws Exception {
        RedisConnectionFactory connections = connections(client);
        try (RedisScriptExecutor redis = RedisScriptExecutor.to(connections, "dq", Duration.ofSeconds(30));
                RedisWakeUps wakeUps = wakeUps(connections, redis, WakeUpMode.CHANNEL)) {
            wakeUps.listen(QUEUE, (signal) -> this.notified.release());
            awaitSubscribed(wakeUps, true);
            for (int i = 1; i <= 5; i++) {
                this.notified.drainPermits();
                this.proxy.swallowSubscriptions();
                assertThat(isNotified()).as("to poll for missed messages").isTrue();
                awaitSubscribed(wakeUps, true);
                this.notified.drainPermits();
                wake(redis, WakeUpMode.CHANNEL);
                assertThat(isNotified()).as("by a wake-up").isTrue();
            }
            Awaitility.await().atMost(TIMEOUT).until(() -> subscribedThreads() == (client.equals("JEDIS") ? 1 : 0));
        }
        finally {
            ((DisposableBean) connections).destroy();
        }
    }

    /** The next beat comes after the time limit of the request to subscribe. */
    @ParameterizedTest
    @ValueSource(strings = { "RESP3", "RESP2" })
    void aQueueThatIsAddedWhileTheConnectionIsSilentIsSubscribedOnAnother(String client) throws Exception {
        RedisConnectionFactory connections = connections(client);
        try (RedisScriptExecutor redis = RedisScriptExecutor.to(connections, "dq", Duration.ofSeconds(30));
                RedisWakeUps wakeUps = new RedisWakeUps(connections, redis, WakeUpMode.CHANNEL, Duration.ZERO,
                        Duration.ofMinutes(10))) {
            wakeUps.listen(QUEUE, (signal) -> this.notified.release());
            awaitSubscribed(wakeUps, true);
            this.proxy.swallowSubscriptions();

            Partition added = Partition.first(new QueueName("refunds"));
            wakeUps.listen(added, (signal) -> {
            });

            Awaitility.await().atMost(TIMEOUT).until(() -> wakeUps.isSubscribed(added));
            awaitSubscribed(wakeUps, true);
        }
        finally {
            ((DisposableBean) connections).destroy();
        }
    }

    private static long subscribedThreads() {
        return Thread.getAllStackTraces()
            .keySet()
            .stream()
            .filter((thread) -> thread.getName().equals("delayqueue-subscription"))
            .count();
    }

    private long rejections() {
        return this.server.commands().aclLog().stream().mapToLong((entry) -> (Long) entry.get("count")).max().orElse(0);
    }

    /** Waits until the server has counted two more requests. */
    private void awaitBeats() {
        long before = requests();
        Awaitility.await().atMost(TIMEOUT).until(() -> requests() >= before + 2);
    }

    private long requests() {
        return this.server.commands()
            .info("commandstats")
            .lines()
            .filter((line) -> line.startsWith("cmdstat_ping:") || line.startsWith("cmdstat_publish:"))
            .mapToLong((line) -> Long.parseLong(line.replaceAll(".*:calls=(\\d+),.*", "$1")))
            .sum();
    }

    private static RedisWakeUps wakeUps(RedisConnectionFactory connections, RedisScriptExecutor redis,
            WakeUpMode mode) {
        return new RedisWakeUps(connections, redis, mode, Duration.ZERO, PERIOD);
    }

    private boolean isNotified() throws InterruptedException {
        return this.notified.tryAcquire(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
    }

    private void wake(RedisScriptExecutor redis, WakeUpMode mode) {
        RedisKeys keys = redis.keysOf(QUEUE);
        if (mode == WakeUpMode.CHANNEL) {
            this.server.commands().publish(keys.wake(), "+0:0");
        }
        else {
            this.server.commands().zadd("dq:{orders}:scheduled", 1, "a");
        }
    }

    private static void awaitSubscribed(RedisWakeUps wakeUps, boolean subscribed) {
        Awaitility.await().atMost(TIMEOUT).until(() -> wakeUps.isSubscribed(QUEUE) == subscribed);
    }

    private RedisConnectionFactory connections(String client) {
        return connections(client, RedisUser.isAsked() ? RedisUser.NAME : null);
    }

    private RedisConnectionFactory connections(String client, String user) {
        RedisStandaloneConfiguration configuration = new RedisStandaloneConfiguration(this.proxy.host(),
                this.proxy.port());
        if (user != null) {
            configuration.setUsername(user);
            configuration.setPassword(RedisUser.PASSWORD);
        }
        if (client.equals("JEDIS")) {
            JedisConnectionFactory jedis = new JedisConnectionFactory(configuration);
            jedis.afterPropertiesSet();
            jedis.start();
            return jedis;
        }
        return ConnectionFactories.started(new LettuceConnectionFactory(configuration,
                LettuceClientConfiguration.builder()
                    .clientOptions(ClientOptions.builder().protocolVersion(ProtocolVersion.valueOf(client)).build())
                    .build()));
    }

}
