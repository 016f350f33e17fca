package io.delayqueue.testing;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.sentinel.api.StatefulRedisSentinelConnection;
import io.lettuce.core.sentinel.api.sync.RedisSentinelCommands;
import org.jspecify.annotations.Nullable;

/**
 * A master and a replica, watched by one or more sentinels. Threads: safe after start.
 */
public final class RedisSentinel implements AutoCloseable {

    /**
     * The name the sentinels know the master by.
     */
    public static final String MASTER_NAME = "delayqueue";

    private final List<RedisServer> servers = new ArrayList<>();

    private final List<RedisServer> sentinels = new ArrayList<>();

    private @Nullable StatefulRedisConnection<String, String> connection;

    private RedisSentinel() {
    }

    /**
     * Starts a master, a replica and one sentinel.
     */
    public static RedisSentinel start(RedisBinary binary) {
        return start(binary, 1);
    }

    /**
     * Starts a master, a replica and sentinels of whom a majority must agree; on return
     * the replica has caught up and all sentinels know of each other.
     */
    public static RedisSentinel start(RedisBinary binary, int sentinels) {
        RedisSentinel group = new RedisSentinel();
        try {
            group.startServers(binary);
            group.startSentinels(binary, sentinels);
            return group;
        }
        catch (Throwable ex) {
            group.close();
            throw ex;
        }
    }

    /**
     * The one the sentinels call master now.
     */
    public RedisServer master() {
        int port = ask(this.sentinels.get(0), (sentinel) -> masterPort(sentinel));
        return this.servers.stream().filter((server) -> server.port() == port).findFirst().orElseThrow();
    }

    /**
     * The other one, whether it lives or not.
     */
    public RedisServer replica() {
        RedisServer master = master();
        return this.servers.stream().filter((server) -> server != master).findFirst().orElseThrow();
    }

    /**
     * As {@code spring.data.redis.sentinel.nodes} takes them.
     */
    public List<String> nodes() {
        return this.sentinels.stream().map((server) -> server.host() + ":" + server.port()).toList();
    }

    /**
     * A new URI that leads to the master through the sentinels, free to change.
     */
    public RedisURI uri() {
        RedisURI.Builder builder = RedisURI.builder()
            .withSentinelMasterId(MASTER_NAME)
            .withTimeout(Lettuce.COMMAND_TIMEOUT);
        this.sentinels.forEach((server) -> builder.withSentinel(server.host(), server.port()));
        return builder.build();
    }

    /**
     * Commands on the fixture's own connection, which follows the master.
     */
    public synchronized RedisCommands<String, String> commands() {
        if (this.connection == null) {
            this.connection = Lettuce.connect(uri());
        }
        return this.connection.sync();
    }

    /**
     * Kills the master; on return the replica takes writes and all sentinels know. Takes
     * seconds. The killed server may be restarted: it comes back as a master and is made
     * a replica after some ten seconds.
     * @return the killed server
     */
    public RedisServer failover() {
        RedisServer killed = master();
        RedisServer heir = replica();
        killed.kill();
        for (RedisServer server : this.sentinels) {
            Poll.until(() -> "%s has not switched to %s".formatted(server, heir),
                    () -> ask(server, (sentinel) -> masterPort(sentinel)) == heir.port());
        }
        Poll.until(() -> "%s is no master".formatted(heir), () -> isMaster(heir));
        return killed;
    }

    @Override
    public synchronized void close() {
        if (this.connection != null) {
            this.connection.close();
        }
        this.sentinels.forEach(RedisServer::close);
        this.servers.forEach(RedisServer::close);
    }

    private void startServers(RedisBinary binary) {
        RedisServer master = RedisServer.start(binary);
        this.servers.add(master);
        RedisServer replica = RedisServer.start(binary, "replicaof %s %d".formatted(master.host(), master.port()));
        this.servers.add(replica);
        // Before the sentinels start: they look for new replicas every ten seconds only.
        Poll.until(() -> "%s has not caught up".formatted(replica),
                () -> master.commands().info("replication").contains("state=online"));
    }

    private void startSentinels(RedisBinary binary, int count) {
        RedisServer master = this.servers.get(0);
        int quorum = count / 2 + 1;
        for (int i = 0; i < count; i++) {
            this.sentinels.add(RedisServer.startSentinel(binary,
                    List.of("sentinel monitor %s %s %d %d".formatted(MASTER_NAME, master.host(), master.port(), quorum),
                            "sentinel down-after-milliseconds %s 1000".formatted(MASTER_NAME),
                            "sentinel failover-timeout %s 3000".formatted(MASTER_NAME))));
        }
        for (RedisServer server : this.sentinels) {
            Poll.until(() -> "%s does not know all others".formatted(server), () -> ask(server, (sentinel) -> {
                var state = sentinel.master(MASTER_NAME);
                return "1".equals(state.get("num-slaves"))
                        && String.valueOf(count - 1).equals(state.get("num-other-sentinels"));
            }));
        }
    }

    private static boolean isMaster(RedisServer server) {
        return server.commands().info("replication").contains("role:master");
    }

    private static int masterPort(RedisSentinelCommands<String, String> sentinel) {
        return ((InetSocketAddress) sentinel.getMasterAddrByName(MASTER_NAME)).getPort();
    }

    private static <T> T ask(RedisServer sentinel, Function<RedisSentinelCommands<String, String>, T> question) {
        try (StatefulRedisSentinelConnection<String, String> connection = Lettuce.CLIENT
            .connectSentinel(sentinel.uri())) {
            return question.apply(connection.sync());
        }
    }

}
