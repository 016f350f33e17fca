package io.delayqueue.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.sync.RedisAdvancedClusterCommands;
import io.lettuce.core.cluster.models.partitions.ClusterPartitionParser;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import org.jspecify.annotations.Nullable;

/**
 * A real cluster of three masters, each with as many replicas as asked for. Threads: safe
 * after start.
 */
public final class RedisCluster implements AutoCloseable {

    private static final int MASTERS = 3;

    private final int replicasPerMaster;

    private final List<RedisServer> servers = new ArrayList<>();

    private @Nullable RedisClusterClient client;

    private @Nullable StatefulRedisClusterConnection<String, String> connection;

    private RedisCluster(int replicasPerMaster) {
        this.replicasPerMaster = replicasPerMaster;
    }

    /**
     * Starts three masters without replicas.
     */
    public static RedisCluster start(RedisBinary binary) {
        return start(binary, 0);
    }

    /**
     * Starts three masters with replicas; on return every node takes commands, and every
     * replica has caught up.
     * @param settings lines of redis.conf for each node
     */
    public static RedisCluster start(RedisBinary binary, int replicasPerMaster, String... settings) {
        RedisCluster cluster = new RedisCluster(replicasPerMaster);
        try {
            cluster.startNodes(binary, settings);
            cluster.assignSlots();
            cluster.introduceNodes();
            cluster.attachReplicas();
            cluster.awaitReady();
            return cluster;
        }
        catch (Throwable ex) {
            cluster.close();
            throw ex;
        }
    }

    /**
     * Those that started as masters.
     */
    public List<RedisServer> masters() {
        return this.servers.subList(0, MASTERS);
    }

    /**
     * Those that started as replicas; the first of each master, then the second of each.
     */
    public List<RedisServer> replicas() {
        return this.servers.subList(MASTERS, this.servers.size());
    }

    /**
     * As {@code spring.data.redis.cluster.nodes} takes them.
     */
    public List<String> nodes() {
        return this.servers.stream().map((server) -> server.host() + ":" + server.port()).toList();
    }

    public List<RedisURI> uris() {
        return this.servers.stream().map(RedisServer::uri).toList();
    }

    /**
     * Commands on the fixture's own connection to the whole cluster.
     */
    public synchronized RedisAdvancedClusterCommands<String, String> commands() {
        if (this.connection == null) {
            this.client = Lettuce.clusterClient(uris());
            this.connection = this.client.connect();
        }
        return this.connection.sync();
    }

    /**
     * The server that is master of the key's slot now.
     */
    public RedisServer masterOf(String key) {
        return masterOfSlot(SlotHash.getSlot(key));
    }

    public RedisServer masterOfSlot(int slot) {
        RedisClusterNode owner = ClusterPartitionParser.parse(anyAlive().commands().clusterNodes())
            .getPartitionBySlot(slot);
        return this.servers.stream()
            .filter((server) -> server.port() == owner.getUri().getPort())
            .findFirst()
            .orElseThrow();
    }

    /**
     * Makes the first replica of a master take over its slots politely: the master holds
     * its clients up until the replica has seen all writes, so none is lost.
     * @return the new master
     */
    public RedisServer handOver(RedisServer master) {
        RedisServer replica = replicas().get(masters().indexOf(master));
        // Answers OK, and now and then does nothing for seconds.
        Poll.until(() -> "%s did not take over".formatted(replica), () -> {
            if (replica.commands().info("replication").contains("role:master")) {
                return true;
            }
            replica.commands().clusterFailover(false);
            return false;
        });
        return replica;
    }

    /**
     * Makes the first replica of a master take over its slots, whether the master lives
     * or not; on return every living node knows. Writes the replica had not seen are
     * lost.
     * @return the new master
     */
    public RedisServer failover(RedisServer master) {
        RedisServer replica = replicas().get(masters().indexOf(master));
        // A polite failover now and then answers OK and then does nothing for seconds.
        replica.commands().clusterFailover(false, true);
        String id = replica.commands().clusterMyId();
        for (RedisServer server : this.servers) {
            Poll.until(() -> "%s does not know that %s took over".formatted(server, replica),
                    () -> !server.isAlive() || ClusterPartitionParser.parse(server.commands().clusterNodes())
                        .getPartitionByNodeId(id)
                        .getSlots()
                        .size() > 0);
        }
        synchronized (this) {
            if (this.client != null) {
                this.client.refreshPartitions();
            }
        }
        return replica;
    }

    @Override
    public synchronized void close() {
        if (this.connection != null) {
            this.connection.close();
        }
        if (this.client != null) {
            this.client.shutdown();
        }
        this.servers.forEach(RedisServer::close);
    }

    private void startNodes(RedisBinary binary, String... settings) {
        String[] lines = Stream.concat(Stream.of("cluster-enabled yes", "cluster-config-file nodes.conf",
                "cluster-node-timeout 1500", "cluster-replica-validity-factor 0"), Stream.of(settings))
            .toArray(String[]::new);
        for (int i = 0; i < MASTERS * (1 + this.replicasPerMaster); i++) {
            this.servers.add(RedisServer.start(binary, lines));
        }
    }

    private void assignSlots() {
        for (int i = 0; i < MASTERS; i++) {
            int from = i * SlotHash.SLOT_COUNT / MASTERS;
            int to = (i + 1) * SlotHash.SLOT_COUNT / MASTERS - 1;
            masters().get(i).commands().clusterAddSlots(IntStream.rangeClosed(from, to).toArray());
        }
    }

    // Epochs of their own before they meet: equal ones would have to be fought out first.
    private void introduceNodes() {
        for (int i = 0; i < this.servers.size(); i++) {
            this.servers.get(i).commands().clusterSetConfigEpoch(i + 1);
        }
        RedisServer first = this.servers.get(0);
        for (RedisServer other : this.servers.subList(1, this.servers.size())) {
            first.commands().clusterMeet(other.host(), other.port());
        }
    }

    private void attachReplicas() {
        for (int i = 0; i < replicas().size(); i++) {
            RedisServer replica = replicas().get(i);
            String masterId = masters().get(i % MASTERS).commands().clusterMyId();
            // Fails until the replica has heard of its master.
            Poll.until(() -> "%s does not accept its master".formatted(replica),
                    () -> "OK".equals(replica.commands().clusterReplicate(masterId)));
        }
    }

    private void awaitReady() {
        for (RedisServer server : this.servers) {
            Poll.until(() -> "%s is not ready: %s".formatted(server, server.commands().clusterInfo()), () -> {
                String info = server.commands().clusterInfo();
                return info.contains("cluster_state:ok") && info.contains("cluster_slots_ok:" + SlotHash.SLOT_COUNT)
                        && info.contains("cluster_known_nodes:" + this.servers.size());
            });
        }
        for (RedisServer replica : replicas()) {
            Poll.until(() -> "%s has not caught up: %s".formatted(replica, replica.commands().info("replication")),
                    () -> replica.commands().info("replication").contains("master_link_status:up"));
        }
    }

    private RedisServer anyAlive() {
        return this.servers.stream().filter(RedisServer::isAlive).findFirst().orElseThrow();
    }

}
