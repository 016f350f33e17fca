package io.delayqueue.redis.replication;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

import io.lettuce.core.AbstractRedisAsyncCommands;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.ReadFrom;
import io.lettuce.core.SslVerifyMode;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.masterreplica.StatefulRedisMasterReplicaConnection;
import io.lettuce.core.resource.ClientResources;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.RedisCredentialsProviderFactory;

/**
 * Opens dedicated connections to the servers of the application's factory, which do not
 * reconnect: {@code WAIT} on a new connection says nothing about earlier writes, which
 * may have reached another master.
 * <p>
 * <strong>Threads.</strong> One at a time opens; any closes. Opening waits.
 */
public final class DedicatedConnections implements AutoCloseable {

    /** Bounds the rate of connections, as a redirected caller reconnects at once. */
    private static final Duration PAUSE = Duration.ofMillis(100);

    private final LettuceConnectionFactory application;

    private @Nullable LettuceConnectionFactory own;

    /** By the monotonic clock. */
    private long lastOpened;

    public DedicatedConnections(LettuceConnectionFactory application) {
        this.application = application;
    }

    /**
     * Opens a connection that no other caller uses. An earlier one has failed, so the
     * slots of a cluster are read again; Lettuce does that by itself only for commands
     * that it routes by their slots.
     */
    @SuppressWarnings("unchecked") // Spring Data's connections speak bytes
    synchronized StatefulConnection<byte[], byte[]> open() {
        if (this.own == null) {
            this.own = start();
        }
        else {
            pause();
            if (this.own.getNativeClient() instanceof RedisClusterClient cluster) {
                cluster.refreshPartitions();
            }
        }
        this.lastOpened = System.nanoTime();
        return (StatefulConnection<byte[], byte[]>) nativeOf(this.own.getConnection());
    }

    /** Runs on a thread that only connects; an early wake-up only shortens the pause. */
    private void pause() {
        LockSupport.parkNanos(PAUSE.toNanos() - (System.nanoTime() - this.lastOpened));
    }

    private LettuceConnectionFactory start() {
        LettuceConnectionFactory factory = new LettuceConnectionFactory(target(),
                new Unrepeated(this.application.getClientConfiguration()));
        factory.setShareNativeConnection(false);
        factory.afterPropertiesSet();
        factory.start();
        return factory;
    }

    private RedisConfiguration target() {
        if (this.application.getClusterConfiguration() != null) {
            return this.application.getClusterConfiguration();
        }
        if (this.application.getSentinelConfiguration() != null) {
            return this.application.getSentinelConfiguration();
        }
        if (this.application.getSocketConfiguration() != null) {
            return this.application.getSocketConfiguration();
        }
        try (RedisConnection connection = this.application.getConnection()) {
            if (nativeOf(connection) instanceof StatefulRedisMasterReplicaConnection<?, ?>) {
                throw new IllegalStateException("delayqueue.durability.wait-replicas does not work with a list of "
                        + "master and replica nodes, nor with spring.data.redis.lettuce.read-from");
            }
        }
        return this.application.getStandaloneConfiguration();
    }

    private static StatefulConnection<?, ?> nativeOf(RedisConnection connection) {
        if (connection.getNativeConnection() instanceof AbstractRedisAsyncCommands<?, ?> commands) {
            return commands.getConnection();
        }
        throw new IllegalStateException("The native connection is none of Lettuce's");
    }

    @Override
    public synchronized void close() {
        if (this.own != null) {
            this.own.destroy();
            this.own = null;
        }
    }

    /** Copies the application's configuration, without automatic reconnects. */
    private record Unrepeated(LettuceClientConfiguration application) implements LettuceClientConfiguration {

        @Override
        public Optional<ClientOptions> getClientOptions() {
            ClientOptions options = this.application.getClientOptions().orElseGet(ClientOptions::create);
            return Optional.of(options.mutate().autoReconnect(false).build());
        }

        @Override
        public Optional<ReadFrom> getReadFrom() {
            return Optional.empty();
        }

        @Override
        public boolean isUseSsl() {
            return this.application.isUseSsl();
        }

        @Override
        @SuppressWarnings("deprecation") // required by the interface
        public boolean isVerifyPeer() {
            return this.application.isVerifyPeer();
        }

        @Override
        public SslVerifyMode getVerifyMode() {
            return this.application.getVerifyMode();
        }

        @Override
        public boolean isStartTls() {
            return this.application.isStartTls();
        }

        @Override
        public Optional<ClientResources> getClientResources() {
            return this.application.getClientResources();
        }

        @Override
        public Optional<String> getClientName() {
            return this.application.getClientName();
        }

        @Override
        public Optional<RedisCredentialsProviderFactory> getRedisCredentialsProviderFactory() {
            return this.application.getRedisCredentialsProviderFactory();
        }

        @Override
        public Duration getCommandTimeout() {
            return this.application.getCommandTimeout();
        }

        @Override
        public Duration getShutdownTimeout() {
            return this.application.getShutdownTimeout();
        }

        @Override
        public Duration getShutdownQuietPeriod() {
            return this.application.getShutdownQuietPeriod();
        }

    }

}
