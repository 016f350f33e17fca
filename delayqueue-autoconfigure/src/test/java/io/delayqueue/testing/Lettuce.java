package io.delayqueue.testing;

import java.time.Duration;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Delay;

/**
 * The fixtures' own clients, apart from those under test. Threads: safe; Lettuce's
 * threads are daemons and end with the JVM.
 */
final class Lettuce {

    static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(30);

    // A fixed short delay: the default grows to 30 s while a test keeps its server down.
    private static final ClientResources RESOURCES = ClientResources.builder()
        .ioThreadPoolSize(2)
        .computationThreadPoolSize(2)
        .reconnectDelay(Delay.constant(Duration.ofMillis(20)))
        .build();

    static final RedisClient CLIENT = RedisClient.create(RESOURCES);

    private Lettuce() {
    }

    static StatefulRedisConnection<String, String> connect(RedisURI uri) {
        return CLIENT.connect(uri);
    }

    static RedisClusterClient clusterClient(Iterable<RedisURI> seeds) {
        RedisClusterClient client = RedisClusterClient.create(RESOURCES, seeds);
        // Off by default, and then a client never learns that another node is master.
        client.setOptions(ClusterClientOptions.builder()
            .topologyRefreshOptions(
                    ClusterTopologyRefreshOptions.builder().enablePeriodicRefresh(Duration.ofSeconds(1)).build())
            .build());
        return client;
    }

    static RedisURI uri(int port) {
        return RedisURI.builder().withHost("127.0.0.1").withPort(port).withTimeout(COMMAND_TIMEOUT).build();
    }

}
