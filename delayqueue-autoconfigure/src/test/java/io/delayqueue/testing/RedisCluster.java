package io.delayqueue.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
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

    /** Those of the start, masters first. */
    private final List<RedisServer> servers = new ArrayList<>();

    private final List<RedisServer> added = new CopyOnWriteArrayList<>();

    private final RedisBinary binary;

    private final String[] settings;

    private @Nullable RedisClusterClient client;

    private @Nullable StatefulRedisClusterConnection<String, String> connection;

    private RedisCluster(RedisBinary binary, int replicasPerMaster, String... settings) {
        this.binary = binary;
        this.replicasPerMaster = replicasPerMaster;
        this.settings = Stream.concat(Stream.of("cluster-enabled yes", "cluster-config-file nodes.conf",
                "cluster-node-timeout 1500", "cluster-replica-validity-factor 0"), Stream.of(settings))
            .toArray(String[]::new);
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
        RedisCluster cluster = new RedisCluster(binary, replicasPerMaster, settings);
        try {
            cluster.startNodes();
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
        return all().filter((server) -> server.port() == owner.getUri().getPort()).findFirst().orElseThrow();
    }

    private Stream<RedisServer> all() {
        return Stream.concat(this.servers.stream(), this.added.stream());
    }

    /**
     * Starts one more master, which has no slots; on return every node knows it.
     */
    public RedisServer addMaster() {
        RedisServer fresh = RedisServer.start(this.binary, this.settings);
        this.added.add(fresh);
        fresh.commands().clusterSetConfigEpoch(this.servers.size() + this.added.size());
        this.servers.get(0).commands().clusterMeet(fresh.host(), fresh.port());
        String id = fresh.commands().clusterMyId();
        all().forEach((server) -> Poll.until(() -> "%s does not know %s".formatted(server, fresh), () -> {
            RedisClusterNode known = ClusterPartitionParser.parse(server.commands().clusterNodes())
                .getPartitionByNodeId(id);
            return known != null && known.isConnected() && server.commands().clusterInfo().contains("state:ok");
        }));
        return fresh;
    }

    /**
     * Moves a slot key by key, while it is in use.
     */
    public void moveSlot(int slot, RedisServer to) {
        RedisServer from = masterOfSlot(slot);
        String toId = to.commands().clusterMyId();
        to.commands().clusterSetSlotImporting(slot, from.commands().clusterMyId());
        from.commands().clusterSetSlotMigrating(slot, toId);
        for (List<String> keys = from.commands().clusterGetKeysInSlot(slot, 1); !keys.isEmpty(); keys = from.commands()
            .clusterGetKeysInSlot(slot, 1)) {
            from.commands().migrate(to.host(), to.port(), keys.get(0), 0, Poll.PATIENCE.toMillis());
        }
        // The new one first: until it knows that the slot is its own, it would send
        // clients back.
        to.commands().clusterSetSlotNode(slot, toId);
        Stream.concat(masters().stream(), this.added.stream())
            .forEach((master) -> Poll.until(() -> "%s does not know where %d is".formatted(master, slot), () -> {
                // Who has heard of it already, and has no slot left, is no master.
                return master.commands().info("replication").contains("role:slave")
                        || "OK".equals(master.commands().clusterSetSlotNode(slot, toId));
            }));
    }

    /**
     * Ends a master that was added and has no slots any more: the others forget it, and
     * it is killed.
     */
    public void removeMaster(RedisServer master) {
        String id = master.commands().clusterMyId();
        this.added.remove(master);
        this.servers.forEach((server) -> server.commands().clusterForget(id));
        master.close();
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
        all().forEach(RedisServer::close);
    }

    private void startNodes() {
        for (int i = 0; i < MASTERS * (1 + this.replicasPerMaster); i++) {
            this.servers.add(RedisServer.start(this.binary, this.settings));
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
