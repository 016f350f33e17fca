package io.delayqueue.redis.check;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

import io.delayqueue.redis.script.RedisKeys;

import org.springframework.data.redis.connection.ClusterSlotHashUtil;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisClusterNode;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.RedisTemplate;

/**
 * Finds the masters of a cluster, and for each a probe whose keys it holds: a script runs
 * where its keys are, and each node has its own settings and users.
 */
final class ClusterMasters {

    /** Most likely enough to find a master of a single slot. */
    private static final int MOST_TRIES = 50_000;

    private ClusterMasters() {
    }

    /** Returns whether there may be several masters; opens a connection. */
    static boolean isCluster(RedisTemplate<?, ?> template) {
        RedisCallback<Boolean> isCluster = RedisClusterConnection.class::isInstance;
        return template.getConnectionFactory() != null && Boolean.TRUE.equals(template.execute(isCluster, true));
    }

    /**
     * Reads the masters from the client of a cluster.
     * @return numbers of probes by address, for each master that has slots
     */
    static Map<String, Integer> probes(RedisTemplate<?, ?> template) {
        RedisCallback<List<RedisClusterNode>> find = ClusterMasters::find;
        List<RedisClusterNode> masters = Objects.requireNonNull(template.execute(find, true));
        Map<String, Integer> probes = new TreeMap<>();
        for (int number = 0; number < MOST_TRIES && probes.size() < masters.size(); number++) {
            int slot = ClusterSlotHashUtil.calculateSlot(RedisKeys.tagOfProbe(number));
            for (RedisClusterNode master : masters) {
                if (master.servesSlot(slot)) {
                    probes.putIfAbsent(master.asString(), number);
                }
            }
        }
        return probes;
    }

    /** Returns the masters that have slots; a failed one has none after a failover. */
    static List<RedisClusterNode> find(RedisConnection connection) {
        List<RedisClusterNode> masters = new ArrayList<>();
        ((RedisClusterConnection) connection).clusterGetNodes().forEach((node) -> {
            if (node.isMaster() && !node.getSlotRange().getSlots().isEmpty()) {
                masters.add(node);
            }
        });
        return masters;
    }

}
