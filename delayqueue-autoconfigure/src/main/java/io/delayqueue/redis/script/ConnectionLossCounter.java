package io.delayqueue.redis.script;

import java.util.concurrent.atomic.AtomicInteger;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.masterreplica.StatefulRedisMasterReplicaConnection;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Counts lost connections of Lettuce, to detect that a call may have been sent twice. A
 * connection to a cluster, or to master and replicas, reports only its own loss; the
 * connections to the nodes, which carry the calls, report to the client. For these, all
 * losses of the client count, including those of other links. Thread-safe.
 */
final class ConnectionLossCounter implements RedisConnectionStateListener {

    private final AtomicInteger lost = new AtomicInteger();

    private final StatefulConnection<?, ?> connection;

    private final boolean many;

    /**
     * Reports lost connections to nodes; {@code null} if there are none, or no such
     * client.
     */
    private final @Nullable AbstractRedisClient client;

    ConnectionLossCounter(StatefulConnection<?, ?> connection, RedisConnectionFactory factory) {
        this.connection = connection;
        this.many = connection instanceof StatefulRedisClusterConnection<?, ?>
                || connection instanceof StatefulRedisMasterReplicaConnection<?, ?>;
        this.client = (this.many && factory instanceof LettuceConnectionFactory lettuce) ? lettuce.getNativeClient()
                : null;
        if (this.client != null) {
            this.client.addListener(this);
        }
        else {
            connection.addListener(this);
        }
    }

    /**
     * Returns the current number of losses: a call may have been sent twice if the number
     * changed before its answer. If losses are not reported, each call returns a new
     * number.
     */
    int count() {
        return (this.many && this.client == null) ? this.lost.incrementAndGet() : this.lost.get();
    }

    @Override
    public void onRedisDisconnected(RedisChannelHandler<?, ?> connection) {
        this.lost.incrementAndGet();
    }

    void close() {
        if (this.client != null) {
            this.client.removeListener(this);
        }
        else {
            this.connection.removeListener(this);
        }
    }

}
