package io.delayqueue.redis.contract;

import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Runs the contract on the oldest supported Redis, through Lettuce. */
@Tag("server")
@Tag("matrix")
class Redis62StoreTests extends RedisStoreContract {

    private static LettuceConnectionFactory connections;

    @BeforeAll
    static void connect() {
        connections = ConnectionFactories.lettuce(RedisServer.shared(RedisBinary.REDIS_6_2));
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
