package io.delayqueue.redis.check;

import java.time.Duration;

import io.delayqueue.fixtures.LogCount;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisCluster;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.RedisUser;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.redis.UnsuitableRedisException;
import io.delayqueue.redis.script.RedisKeys;
import io.delayqueue.redis.wakeup.WakeUpMode;
import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.protocol.CommandType;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration.LettuceClientConfigurationBuilder;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.RedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** P1, P3: any one master with a wrong setting is found. */
@ExtendWith(OutputCaptureExtension.class)
@Tag("server")
class ClusterServerCheckTests {

    private static final Duration LIMIT = Duration.ofSeconds(30);

    private static final Duration TIMEOUT = Duration.ofMinutes(1);

    private static RedisCluster cluster;

    @BeforeAll
    static void start() {
        cluster = RedisCluster.start(RedisBinary.preferred(), 0, "notify-keyspace-events Kz", "save 3600 1");
    }

    @AfterAll
    static void stop() {
        cluster.close();
    }

    @ParameterizedTest
    @ValueSource(ints = { 0, 1, 2 })
    void aMasterThatEvictsKeysCausesAWarning(int index, CapturedOutput output) {
        RedisServer evicting = cluster.masters().get(index);
        evicting.commands().configSet("maxmemory-policy", "allkeys-lfu");
        try {
            assertThat(checkByLettuce()).isTrue();
        }
        finally {
            evicting.commands().configSet("maxmemory-policy", "noeviction");
        }
        assertThat(LogCount.lines(output, "WARN")).hasSize(1);
        String server = "Redis at %s:%d".formatted(evicting.host(), evicting.port());
        assertThat(output).contains(server + " has maxmemory-policy 'allkeys-lfu': when");
    }

    @Test
    void mastersThatEvictKeysAreNamedTogether(CapturedOutput output) {
        cluster.masters().forEach((master) -> master.commands().configSet("maxmemory-policy", "allkeys-lru"));
        try {
            assertThat(checkByJedis(WakeUpMode.CHANNEL)).isTrue();
        }
        finally {
            cluster.masters().forEach((master) -> master.commands().configSet("maxmemory-policy", "noeviction"));
        }
        assertThat(output).containsOnlyOnce("when its memory is full");
        assertThat(cluster.masters()).allSatisfy((master) -> assertThat(output)
            .contains("at %s:%d has maxmemory-policy 'allkeys-lru'".formatted(master.host(), master.port())));
    }

    @Test
    void aMasterThatLacksARightIsRefused() {
        RedisServer first = cluster.masterOf("{" + RedisKeys.tagOfProbe(0) + "}");
        RedisServer strict = cluster.masters().stream().filter((master) -> master != first).findFirst().orElseThrow();
        strict.commands().aclSetuser(RedisUser.underTest(), AclSetuserArgs.Builder.removeCommand(CommandType.ZMSCORE));
        try {
            assertThatExceptionOfType(UnsuitableRedisException.class).isThrownBy(this::checkByLettuce)
                .withMessageContaining(
                        "The Redis user lacks a permission at %s:%d: ZMSCORE".formatted(strict.host(), strict.port()));
        }
        finally {
            strict.commands().aclSetuser(RedisUser.underTest(), AclSetuserArgs.Builder.addCommand(CommandType.ZMSCORE));
        }
    }

    @Test
    void nothingIsKnownWhileAMasterIsAway() {
        RedisServer away = cluster.masters().get(1);
        LettuceConnectionFactory factory = lettuce(wellSet());
        try {
            away.suspend();
            assertThat(check(factory, WakeUpMode.CHANNEL, Duration.ofSeconds(2))).isFalse();
            away.resume();
            Awaitility.await().atMost(TIMEOUT).until(() -> check(factory, WakeUpMode.CHANNEL, LIMIT));
        }
        finally {
            away.resume();
            factory.destroy();
        }
    }

    @Test
    void aClientThatWouldNotNoticeAHangCausesAWarning(CapturedOutput output) {
        LettuceConnectionFactory factory = lettuce(LettuceClientConfiguration.builder());
        try {
            assertThat(check(factory, WakeUpMode.CHANNEL, LIMIT)).isTrue();
        }
        finally {
            factory.destroy();
        }
        assertThat(output).containsOnlyOnce("when a master of the cluster hangs")
            .contains(
                    "Set spring.data.redis.lettuce.cluster.refresh.period to 10s or so, and spring.data.redis.timeout, "
                            + "which is 60 s, to 2s or so");
    }

    @Test
    void aClientThatRefreshesPeriodicallyCausesNoWarning(CapturedOutput output) {
        assertThat(checkByLettuce()).isTrue();
        assertThat(LogCount.lines(output, "WARN")).isEmpty();
    }

    @Test
    void keyspaceNotificationsNeedLettuceOnACluster(CapturedOutput output) {
        assertThat(checkByJedis(WakeUpMode.CHANNEL)).isTrue();
        assertThat(LogCount.lines(output, "WARN")).isEmpty();

        assertThat(checkByJedis(WakeUpMode.KEYSPACE)).isTrue();
        assertThat(LogCount.lines(output, "WARN")).hasSize(1);
        assertThat(output).contains("with a client other than Lettuce only those of one node are received");
    }

    @Test
    void aReplicaThatDoesNotNotifyIsNamed(CapturedOutput output) {
        try (RedisCluster replicated = RedisCluster.start(RedisBinary.preferred(), 1, "notify-keyspace-events Kz",
                "save 3600 1")) {
            RedisServer silent = replicated.replicas().get(1);
            silent.commands().configSet("notify-keyspace-events", "");
            LettuceConnectionFactory lettuce = ConnectionFactories.lettuce(replicated);

            assertThat(check(lettuce, WakeUpMode.KEYSPACE, LIMIT)).isTrue();

            lettuce.destroy();
            assertThat(LogCount.of(output, "ERROR",
                    "'keyspace', but Redis at %s:%d has notify-keyspace-events '', and it needs 'Kz'"
                        .formatted(silent.host(), silent.port())))
                .isOne();
        }
    }

    private static LettuceClientConfigurationBuilder wellSet() {
        ClusterTopologyRefreshOptions refresh = ClusterTopologyRefreshOptions.builder()
            .enablePeriodicRefresh(Duration.ofSeconds(10))
            .build();
        return LettuceClientConfiguration.builder()
            .commandTimeout(Duration.ofSeconds(2))
            .clientOptions(ClusterClientOptions.builder().topologyRefreshOptions(refresh).build());
    }

    private static LettuceConnectionFactory lettuce(LettuceClientConfigurationBuilder configuration) {
        return ConnectionFactories
            .started(new LettuceConnectionFactory(ConnectionFactories.at(cluster), configuration.build()));
    }

    private boolean checkByLettuce() {
        LettuceConnectionFactory factory = lettuce(wellSet());
        try {
            return check(factory, WakeUpMode.KEYSPACE, LIMIT);
        }
        finally {
            factory.destroy();
        }
    }

    private static boolean checkByJedis(WakeUpMode mode) {
        JedisConnectionFactory factory = ConnectionFactories.jedis(cluster);
        try {
            return check(factory, mode, LIMIT);
        }
        finally {
            factory.destroy();
        }
    }

    private static boolean check(RedisConnectionFactory factory, WakeUpMode mode, Duration limit) {
        RedisTemplate<String, byte[]> template = new RedisTemplate<>();
        template.setConnectionFactory(factory);
        template.afterPropertiesSet();
        try (RedisScriptExecutor redis = RedisScriptExecutor.to(factory, "dq", limit)) {
            return new RedisServerCheck(redis, template, mode).run(limit);
        }
    }

}
