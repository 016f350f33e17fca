package io.delayqueue.integration;

import java.util.ArrayList;
import java.util.List;

import io.delayqueue.testing.RedisBinary;
import io.delayqueue.testing.RedisCluster;
import io.delayqueue.testing.RedisSentinel;
import io.delayqueue.testing.RedisServer;
import io.lettuce.core.cluster.api.sync.RedisClusterCommands;

/** A way from an application to Redis: the servers, and the client's settings. */
enum Topology {

    /** One server of the oldest version. */
    REDIS_6_2 {

        @Override
        Opened open() {
            return single(RedisBinary.REDIS_6_2);
        }

    },

    /** One server of the newest version. */
    REDIS_7_0 {

        @Override
        Opened open() {
            return single(RedisBinary.REDIS_7_0);
        }

    },

    /** A client that is not Lettuce: every call waits. */
    JEDIS {

        @Override
        Opened open() {
            return single(RedisBinary.preferred(), "spring.data.redis.client-type=jedis");
        }

    },

    /** Lettuce without the connection that all threads share. */
    DEDICATED_CONNECTIONS {

        @Override
        Opened open() {
            return single(RedisBinary.preferred(), "test.share-native-connection=false");
        }

    },

    /** Master, replica and sentinel. */
    SENTINEL {

        @Override
        Opened open() {
            RedisSentinel sentinel = RedisSentinel.start(RedisBinary.preferred());
            return new Opened(sentinel.commands(), sentinel,
                    List.of("spring.data.redis.sentinel.master=" + RedisSentinel.MASTER_NAME,
                            "spring.data.redis.sentinel.nodes=" + String.join(",", sentinel.nodes())));
        }

    },

    /** Three masters. */
    CLUSTER {

        @Override
        Opened open() {
            RedisCluster cluster = RedisCluster.start(RedisBinary.preferred());
            return new Opened(cluster.commands(), cluster,
                    List.of("spring.data.redis.cluster.nodes=" + String.join(",", cluster.nodes())));
        }

    };

    abstract Opened open();

    private static Opened single(RedisBinary binary, String... properties) {
        RedisServer server = RedisServer.shared(binary);
        List<String> all = new ArrayList<>(List.of(Applications.at(server.port(), properties)));
        return new Opened(server.commands(), server, all);
    }

    /**
     * A topology that is there.
     *
     * @param commands the fixture's own commands
     * @param servers what to close
     * @param properties of the application
     */
    record Opened(RedisClusterCommands<String, String> commands, AutoCloseable servers, List<String> properties) {
    }

}
