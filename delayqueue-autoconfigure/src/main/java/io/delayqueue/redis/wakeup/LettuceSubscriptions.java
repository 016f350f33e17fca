package io.delayqueue.redis.wakeup;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

import io.delayqueue.redis.StaticMasterReplicaNodes;
import io.delayqueue.store.DaemonThreads;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.models.partitions.ClusterPartitionParser;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode.NodeFlag;
import io.lettuce.core.cluster.pubsub.StatefulRedisClusterPubSubConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Opens the connections on which a process subscribes with Lettuce. */
final class LettuceSubscriptions {

    private static final Logger logger = LoggerFactory.getLogger(LettuceSubscriptions.class);

    private LettuceSubscriptions() {
    }

    /** Opens a connection to any node, on a thread of its own. */
    static CompletableFuture<StatefulRedisPubSubConnection<byte[], byte[]>> open(LettuceConnectionFactory factory) {
        try {
            return CompletableFuture.supplyAsync(() -> connect(factory),
                    (call) -> DaemonThreads.start(call, "delayqueue-subscription"));
        }
        catch (OutOfMemoryError ex) {
            return CompletableFuture.failedFuture(ex); // no thread could be started
        }
    }

    /** Refreshes the topology of a cluster first, as it may be outdated. */
    private static StatefulRedisPubSubConnection<byte[], byte[]> connect(LettuceConnectionFactory factory) {
        AbstractRedisClient client = factory.getRequiredNativeClient();
        if (client instanceof RedisClusterClient cluster) {
            cluster.refreshPartitions();
            return cluster.connectPubSub(ByteArrayCodec.INSTANCE);
        }
        List<RedisURI> nodes = StaticMasterReplicaNodes.addresses(factory);
        return nodes.isEmpty() ? ((RedisClient) client).connectPubSub(ByteArrayCodec.INSTANCE)
                : connect((RedisClient) client, nodes);
    }

    /**
     * Connects to the first node that answers. It may be a replica, as a master also
     * sends its replicas the messages that it publishes.
     */
    private static StatefulRedisPubSubConnection<byte[], byte[]> connect(RedisClient client, List<RedisURI> nodes) {
        int last = nodes.size() - 1;
        for (RedisURI node : nodes.subList(0, last)) {
            try {
                return client.connectPubSub(ByteArrayCodec.INSTANCE, node);
            }
            catch (RedisConnectionException ex) {
                logger.debug("Cannot connect to {}:{}; trying the next node", node.getHost(), node.getPort(), ex);
            }
        }
        return client.connectPubSub(ByteArrayCodec.INSTANCE, nodes.get(last));
    }

    /**
     * Returns the addresses of the masters to subscribe on, by id; one with an empty id
     * if any node will do.
     */
    static CompletableFuture<Map<String, String>> readMasters(StatefulRedisPubSubConnection<byte[], byte[]> open,
            WakeUpMode mode) {
        if (!(mode == WakeUpMode.KEYSPACE
                && open instanceof StatefulRedisClusterPubSubConnection<byte[], byte[]> cluster)) {
            return CompletableFuture.completedFuture(Map.of("", ""));
        }
        return cluster.async()
            .clusterNodes()
            .toCompletableFuture()
            .thenApply((nodes) -> ClusterPartitionParser.parse(nodes)
                .getPartitions()
                .stream()
                .filter((node) -> node.is(NodeFlag.UPSTREAM) && !node.is(NodeFlag.FAIL) && !node.hasNoSlots())
                .collect(Collectors.toMap(RedisClusterNode::getNodeId, (node) -> String.valueOf(node.getUri()))));
    }

}
