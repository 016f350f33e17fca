package io.delayqueue.redis.contract;

import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/** Runs the contract through a client other than Lettuce: the blocking fallback. */
@Tag("server")
@Tag("matrix")
class JedisStoreTests extends RedisStoreContract {

    private static JedisConnectionFactory connections;

    @BeforeAll
    static void connect() {
        connections = ConnectionFactories.jedis(RedisServer.shared(RedisBinary.preferred()));
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

}
