package io.delayqueue.redis.contract;

import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Runs the contract on the server on the PATH, or the one given by -Ddq.redis.binary. */
@Tag("server")
@Tag("matrix")
class ExternalRedisStoreTests extends RedisStoreContract {

    private static LettuceConnectionFactory connections;

    @BeforeAll
    static void connect() {
        connections = ConnectionFactories.lettuce(RedisServer.shared(RedisBinary.GIVEN));
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
