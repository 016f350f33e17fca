package io.delayqueue.redis.contract;

import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisCluster;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Runs the contract on a cluster of three masters: all keys of a script are in one slot
 * (P10).
 */
@Tag("server")
class ClusterStoreTests extends RedisStoreContract {

    private static RedisCluster cluster;

    private static LettuceConnectionFactory connections;

    @BeforeAll
    static void connect() {
        cluster = RedisCluster.startWithoutFailover(RedisBinary.preferred());
        connections = ConnectionFactories.lettuce(cluster);
    }

    @AfterAll
    static void disconnect() {
        if (connections != null) {
            connections.destroy();
        }
        if (cluster != null) {
            cluster.close();
        }
    }

    @Override
    RedisConnectionFactory factory() {
        return connections;
    }

}
