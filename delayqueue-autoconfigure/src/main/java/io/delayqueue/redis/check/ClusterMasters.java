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
 * Finds the masters of a cluster, and for each a probe whose keys it holds: a script goes
 * where its keys are, and settings and users are each node's own.
 */
final class ClusterMasters {

    /** Enough to come upon a master of a single slot, most likely. */
    private static final int MOST_TRIES = 50_000;

    private ClusterMasters() {
    }

    /** Whether there are several masters at all; opens a connection. */
    static boolean isCluster(RedisTemplate<?, ?> template) {
        RedisCallback<Boolean> isCluster = RedisClusterConnection.class::isInstance;
        return template.getConnectionFactory() != null && Boolean.TRUE.equals(template.execute(isCluster, true));
    }

    /**
     * Asks the client of a cluster who the masters are.
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

    /** The masters that have slots: one that is dead has none once another took over. */
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
