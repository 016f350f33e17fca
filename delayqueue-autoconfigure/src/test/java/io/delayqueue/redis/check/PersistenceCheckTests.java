package io.delayqueue.redis.check;

import io.delayqueue.fixtures.LogCount;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisCluster;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.RedisUser;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.RedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/** The start warns of a Redis that loses all messages at its restart. */
@ExtendWith(OutputCaptureExtension.class)
@Tag("server")
class PersistenceCheckTests {

    private static final String WARNING = "Nothing is kept on disk by Redis";

    private static void check(RedisConnectionFactory connections) throws Exception {
        try {
            RedisTemplate<String, byte[]> template = new RedisTemplate<>();
            template.setConnectionFactory(connections);
            template.afterPropertiesSet();
            RedisServerCheck.warnOfMissingPersistence(template);
        }
        finally {
            ((DisposableBean) connections).destroy();
        }
    }

    private static RedisConnectionFactory asFixture(RedisServer server) {
        return ConnectionFactories.started(new LettuceConnectionFactory(server.host(), server.port()));
    }

    @Test
    void aServerThatPersistsNothingCausesAWarning(CapturedOutput output) throws Exception {
        try (RedisServer server = RedisServer.start(RedisBinary.preferred())) {
            check(asFixture(server));
            assertThat(output).containsOnlyOnce(WARNING + ", neither");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = { "appendonly yes", "save 3600 1" })
    void aServerThatPersistsCausesNoWarning(String setting, CapturedOutput output) throws Exception {
        try (RedisServer server = RedisServer.start(RedisBinary.preferred(), setting)) {
            check(asFixture(server));
            assertThat(output).doesNotContain(WARNING);
        }
    }

    @Test
    void nothingIsLoggedIfConfigIsNotPermitted(CapturedOutput output) throws Exception {
        try (RedisServer server = RedisServer.start(RedisBinary.preferred())) {
            RedisUser.set(server, "shop", RedisUser.documented());
            RedisStandaloneConfiguration configuration = new RedisStandaloneConfiguration(server.host(), server.port());
            configuration.setUsername("shop");
            configuration.setPassword(RedisUser.PASSWORD);
            check(ConnectionFactories.started(new LettuceConnectionFactory(configuration)));
            assertThat(output).doesNotContain(WARNING);
            assertThat(LogCount.lines(output, "WARN")).isEmpty();
        }
    }

    @Test
    void nodesOfAClusterAreNamed(CapturedOutput output) throws Exception {
        try (RedisCluster cluster = RedisCluster.start(RedisBinary.preferred())) {
            RedisServer safe = cluster.masters().get(0);
            RedisServer forgetful = cluster.masters().get(1);
            safe.commands().configSet("appendonly", "yes");
            LettuceConnectionFactory connections = new LettuceConnectionFactory(ConnectionFactories.at(cluster));
            check(ConnectionFactories.started(connections));
            assertThat(output).containsOnlyOnce(WARNING)
                .contains(" at %s:%d".formatted(forgetful.host(), forgetful.port()))
                .doesNotContain(" at %s:%d".formatted(safe.host(), safe.port()));
        }
    }

}
