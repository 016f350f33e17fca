package io.delayqueue.redis.check;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.TreeMap;
import java.util.function.Function;

import io.delayqueue.redis.script.RedisKeys;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.connection.ClusterSlotHashUtil;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisClusterNode;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisServerCommands;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.RedisTemplate;

/**
 * Finds the masters of a cluster. For each, finds a hash tag whose slot it holds, so that
 * a script with such keys runs there, and reads the values of a property: each node has
 * settings and users of its own. Reads some settings of replicas too.
 */
final class ClusterNodes {

    /** Limit of tries; a master of a single slot is found with near certainty. */
    private static final int MAX_TRIES = 50_000;

    /** A probe of the only server, or of any master. */
    static final Map<String, Integer> ANY = Map.of("", 0);

    private static final Logger logger = LoggerFactory.getLogger(ClusterNodes.class);

    private ClusterNodes() {
    }

    /** Returns whether there may be several masters; opens a connection. */
    static boolean isCluster(RedisTemplate<?, ?> template) {
        RedisCallback<Boolean> isCluster = RedisClusterConnection.class::isInstance;
        return template.getConnectionFactory() != null && Boolean.TRUE.equals(template.execute(isCluster, true));
    }

    /**
     * Reads the masters from the client of a cluster.
     * @return numbers of probes by address, for each master that has slots; of a single
     * server {@link #ANY}
     */
    static Map<String, Integer> probes(RedisTemplate<?, ?> template) {
        if (!isCluster(template)) {
            return ANY;
        }
        RedisCallback<List<RedisClusterNode>> find = ClusterNodes::find;
        List<RedisClusterNode> masters = Objects.requireNonNull(template.execute(find, true));
        Map<String, Integer> probes = new TreeMap<>();
        for (int number = 0; number < MAX_TRIES && probes.size() < masters.size(); number++) {
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

    /**
     * Reads a setting of all nodes of a cluster, replicas included, or of the only
     * server, by location. Leaves out a node that cannot be asked if another one can.
     */
    static Map<String, String> settingsOfAll(RedisTemplate<?, ?> template, String name) {
        if (!isCluster(template)) {
            return settings(template, name);
        }
        RedisCallback<Map<String, String>> read = (connection) -> settings((RedisClusterConnection) connection, name);
        return Objects.requireNonNull(template.execute(read, true));
    }

    private static Map<String, String> settings(RedisClusterConnection cluster, String name) {
        Map<String, String> values = new TreeMap<>();
        RuntimeException failure = null;
        for (RedisClusterNode node : cluster.clusterGetNodes()) {
            if (!node.isConnected()) {
                continue;
            }
            try {
                Properties found = cluster.serverCommands().getConfig(node, name);
                values.put(" at " + node.asString(), (found != null) ? found.getProperty(name, "") : "");
            }
            catch (RuntimeException ex) {
                logger.debug("The setting '{}' of {} cannot be read", name, node.asString(), ex);
                failure = ex;
            }
        }
        if (values.isEmpty() && failure != null) {
            throw failure;
        }
        return values;
    }

    /** Reads a setting of the servers; see {@link #read}. */
    static Map<String, String> settings(RedisTemplate<?, ?> template, String name) {
        return read(template, (server) -> server.getConfig(name), name);
    }

    /**
     * Reads a property of the servers by location, {@code " at <node>"} or empty. Of a
     * cluster the client queries the masters only, and puts the address of the node in
     * front of each name.
     */
    static Map<String, String> read(RedisTemplate<?, ?> template,
            Function<RedisServerCommands, @Nullable Properties> call, String name) {
        RedisCallback<Properties> read = (connection) -> Objects
            .requireNonNullElseGet(call.apply(connection.serverCommands()), Properties::new);
        Properties found = Objects.requireNonNull(template.execute(read, true));
        Map<String, String> values = new TreeMap<>();
        for (String property : found.stringPropertyNames()) {
            if (property.equals(name) || property.endsWith("." + name)) {
                String node = property.substring(0, Math.max(0, property.length() - name.length() - 1));
                values.put(node.isEmpty() ? "" : " at " + node, found.getProperty(property));
            }
        }
        return values;
    }

}
