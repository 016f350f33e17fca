package io.delayqueue.redis;

import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Notices when Lettuce loses a connection that our subscriptions are on. It connects
 * again and asks once for what was subscribed; that the server will not have it is told
 * to nobody. The client may have subscriptions of the application as well, on connections
 * of their own: which ones are ours is told by what they subscribe to.
 * <p>
 * <strong>Threads.</strong> Those of the client, which are not to be kept waiting; any
 * other begins and ends it.
 */
final class SubscriptionWatch implements RedisConnectionStateListener {

    private final AbstractRedisClient client;

    private final Observer observer;

    /** What listens to each connection that is open. */
    private final Map<RedisChannelHandler<?, ?>, Ear<?, ?>> ears = new ConcurrentHashMap<>();

    /** The last one of ours that was lost: the client connects the same one again. */
    private volatile @Nullable RedisChannelHandler<?, ?> lost;

    private SubscriptionWatch(AbstractRedisClient client, Observer observer) {
        this.client = client;
        this.observer = observer;
    }

    /**
     * Begins to watch the client that a factory has by now.
     * @return {@code null} if it has none
     */
    static @Nullable SubscriptionWatch of(LettuceConnectionFactory factory, Observer observer) {
        AbstractRedisClient client = factory.getNativeClient();
        if (client == null) {
            return null;
        }
        SubscriptionWatch watch = new SubscriptionWatch(client, observer);
        client.addListener(watch);
        return watch;
    }

    /** Tells nothing from now on. */
    void close() {
        this.client.removeListener(this);
        this.ears.values().forEach((ear) -> ear.ours = false);
        this.lost = null;
    }

    @Override
    public void onRedisConnected(RedisChannelHandler<?, ?> connection, SocketAddress address) {
        if (connection instanceof StatefulRedisPubSubConnection<?, ?> line) {
            this.ears.put(connection, listenTo(line));
            if (connection == this.lost) {
                this.lost = null;
                this.observer.reconnected();
            }
        }
    }

    private <K, V> Ear<K, V> listenTo(StatefulRedisPubSubConnection<K, V> line) {
        Ear<K, V> ear = new Ear<>(line);
        line.addListener(ear);
        return ear;
    }

    @Override
    public void onRedisDisconnected(RedisChannelHandler<?, ?> connection) {
        Ear<?, ?> ear = this.ears.remove(connection);
        if (ear != null) {
            ear.leave();
            if (ear.ours) {
                this.lost = connection;
                this.observer.lost();
            }
        }
    }

    /** Who is told. */
    interface Observer {

        /** Whether this channel or pattern is one of ours. */
        boolean isOurs(String topic);

        /** Nothing is heard that came on the connection. */
        void lost();

        /**
         * The connection is there again, and has asked for its subscriptions or soon
         * will.
         */
        void reconnected();

    }

    /** Hears what a connection subscribes to. */
    private final class Ear<K, V> extends RedisPubSubAdapter<K, V> {

        private final StatefulRedisPubSubConnection<K, V> line;

        private volatile boolean ours;

        private Ear(StatefulRedisPubSubConnection<K, V> line) {
            this.line = line;
        }

        @Override
        public void subscribed(K channel, long count) {
            hear(channel);
        }

        @Override
        public void psubscribed(K pattern, long count) {
            hear(pattern);
        }

        private void hear(Object topic) {
            if (!this.ours && topic instanceof byte[] bytes) {
                this.ours = SubscriptionWatch.this.observer.isOurs(new String(bytes, StandardCharsets.UTF_8));
            }
        }

        private void leave() {
            this.line.removeListener(this);
        }

    }

}
