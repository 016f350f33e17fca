package io.delayqueue.redis.contract;

import java.time.Duration;

import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.redis.check.RedisServerCheck;
import io.delayqueue.redis.wakeup.WakeUpMode;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.RedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/** Runs the contract on the server given by -Ddq.redis.url. */
@Tag("server")
@Tag("matrix")
class UrlRedisStoreTests extends RedisStoreContract {

    private static final Duration LIMIT = Duration.ofSeconds(30);

    private static LettuceConnectionFactory connections;

    @BeforeAll
    static void connect() {
        connections = ConnectionFactories.lettuce(RedisServer.shared(RedisBinary.AT_URL));
    }

    @AfterAll
    static void disconnect() {
        if (connections != null) {
            connections.destroy();
        }

    }

    @Override
    RedisConnectionFactory factory() {
        return connections;
    }

    /** Other engines pass the check without changes, too. */
    @Test
    void isAcceptedAtTheStart() {
        RedisTemplate<String, byte[]> template = new RedisTemplate<>();
        template.setConnectionFactory(connections);
        template.afterPropertiesSet();
        try (RedisScriptExecutor redis = RedisScriptExecutor.to(connections, "url-check", LIMIT)) {
            assertThat(new RedisServerCheck(redis, template, WakeUpMode.CHANNEL).run(LIMIT)).isTrue();
        }
    }

}
