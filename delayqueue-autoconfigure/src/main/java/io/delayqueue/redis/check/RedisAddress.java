package io.delayqueue.redis.check;

import java.util.stream.Collectors;
import java.util.stream.StreamSupport;

import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.redis.StaticMasterReplicaNodes;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.NamedNode;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Describes the Redis to which an application is configured to connect. */
final class RedisAddress {

    private static final int MAX_NODES = 3;

    private RedisAddress() {
    }

    /**
     * Returns the address, without credentials, of a static list of nodes that of the
     * first; empty if the client does not report it.
     */
    static String of(@Nullable RedisConnectionFactory factory) {
        if (factory == null || !RedisScriptExecutor.isLettuce(factory)) {
            return "";
        }
        LettuceConnectionFactory lettuce = (LettuceConnectionFactory) factory;
        RedisClusterConfiguration cluster = lettuce.getClusterConfiguration();
        if (cluster != null) {
            return "the cluster of " + nodes(cluster.getClusterNodes());
        }
        RedisSentinelConfiguration sentinel = lettuce.getSentinelConfiguration();
        if (sentinel != null) {
            NamedNode master = sentinel.getMaster();
            return "master '%s' of the sentinels %s".formatted((master != null) ? master.getName() : "",
                    nodes(sentinel.getSentinels()));
        }
        return StaticMasterReplicaNodes.of(lettuce)
            .stream()
            .findFirst()
            .map((node) -> address(node.getHostName(), node.getPort()))
            .orElseGet(() -> address(lettuce.getHostName(), lettuce.getPort()));
    }

    private static String address(String host, int port) {
        return "%s:%d".formatted(host, port);
    }

    private static String nodes(Iterable<RedisNode> nodes) {
        return StreamSupport.stream(nodes.spliterator(), false)
            .map(RedisNode::asString)
            .sorted()
            .limit(MAX_NODES)
            .collect(Collectors.joining(", "));
    }

}
