package io.delayqueue.redis.contract;

import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisSentinel;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Runs the contract through Sentinel. */
@Tag("server")
@Tag("matrix")
class SentinelStoreTests extends RedisStoreContract {

    private static RedisSentinel sentinel;

    private static LettuceConnectionFactory connections;

    @BeforeAll
    static void connect() {
        sentinel = RedisSentinel.startWithoutFailover(RedisBinary.preferred());
        connections = ConnectionFactories.lettuce(sentinel);
    }

    @AfterAll
    static void disconnect() {
        if (connections != null) {
            connections.destroy();
        }
        if (sentinel != null) {
            sentinel.close();
        }
    }

    @Override
    RedisConnectionFactory factory() {
        return connections;
    }

}
