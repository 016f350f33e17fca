package io.delayqueue.redis.wakeup;

import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.Delegating;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisChannelWriter;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.protocol.DefaultEndpoint;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Monitors the connections of a Lettuce client that our subscriptions are on, and reports
 * which of them are lost. Lettuce reconnects and subscribes once more, and does not
 * report it if the server rejects that. Each connection has a
 * {@link SubscriptionHeartbeat}, which drops it if it is silent; its request is a
 * {@code PING}, which a subscribed connection may send. The client may have subscriptions
 * of the application as well, on connections of their own: the topics of a connection
 * show whether it is ours.
 * <p>
 * <strong>Threads.</strong> Those of the client, which must not be blocked; any other
 * thread starts and closes it.
 */
final class SubscriptionMonitor implements RedisConnectionStateListener {

    private static final Logger logger = LoggerFactory.getLogger(SubscriptionMonitor.class);

    private final AbstractRedisClient client;

    private final Observer observer;

    /** Listeners of the open connections. */
    private final Map<RedisChannelHandler<?, ?>, Ear<?, ?>> ears = new ConcurrentHashMap<>();

    /**
     * Our connections that were lost and have not subscribed again; the client reopens
     * the same objects.
     */
    private final Set<RedisChannelHandler<?, ?>> lost = ConcurrentHashMap.newKeySet();

    private @Nullable Future<?> beats;

    private SubscriptionMonitor(AbstractRedisClient client, Observer observer) {
        this.client = client;
        this.observer = observer;
    }

    /**
     * Starts to monitor the present client of a factory.
     * @param period of the heartbeats
     * @return {@code null} if it has none
     */
    static @Nullable SubscriptionMonitor of(LettuceConnectionFactory factory, Observer observer, Duration period) {
        AbstractRedisClient client = factory.getNativeClient();
        if (client == null) {
            return null;
        }
        SubscriptionMonitor watch = new SubscriptionMonitor(client, observer);
        client.addListener(watch);
        watch.beats = client.getResources()
            .eventExecutorGroup()
            .scheduleWithFixedDelay(watch::beat, period.toMillis(), period.toMillis(), TimeUnit.MILLISECONDS);
        return watch;
    }

    /** Stops reporting and dropping connections. */
    void close() {
        this.client.removeListener(this);
        if (this.beats != null) {
            this.beats.cancel(false);
        }
        this.ears.values().forEach((ear) -> ear.ours = false);
        this.lost.clear();
    }

    /** Returns whether no connection of ours is lost. */
    boolean isWhole() {
        return this.lost.isEmpty();
    }

    private void beat() {
        for (Ear<?, ?> ear : this.ears.values()) {
            try {
                if (ear.ours) {
                    ear.heartbeat.beat();
                }
            }
            catch (RuntimeException ex) {
                // Caught, as an exception would end the heartbeats.
                logger.debug("Cannot check a subscribed connection", ex);
            }
        }
    }

    @Override
    public void onRedisConnected(RedisChannelHandler<?, ?> connection, SocketAddress address) {
        if (connection instanceof StatefulRedisPubSubConnection<?, ?> line) {
            this.ears.put(connection, listenTo(connection, line));
            if (this.lost.contains(connection)) {
                this.observer.reconnected();
            }
        }
    }

    private <K, V> Ear<K, V> listenTo(RedisChannelHandler<?, ?> connection, StatefulRedisPubSubConnection<K, V> line) {
        Ear<K, V> ear = new Ear<>(connection, line);
        line.addListener(ear);
        return ear;
    }

    @Override
    public void onRedisDisconnected(RedisChannelHandler<?, ?> connection) {
        Ear<?, ?> ear = this.ears.remove(connection);
        if (ear != null) {
            ear.leave();
            if (ear.ours) {
                this.lost.add(connection);
                this.observer.lost();
            }
        }
    }

    /** Receives losses of connections. */
    interface Observer {

        /** Returns whether this channel or pattern is one of ours. */
        boolean isOurs(String topic);

        /** Called when a connection of ours is lost. */
        void lost();

        /** Called before a silent connection of ours is dropped. */
        void dropped();

        /**
         * Called when a connection is open again and has requested its subscriptions, or
         * soon will.
         */
        void reconnected();

        /** Called when every lost connection has subscribed again. */
        default void restored() {
        }

    }

    /** Receives the subscriptions and messages of a connection. */
    private final class Ear<K, V> extends RedisPubSubAdapter<K, V> implements SubscriptionHeartbeat.Line {

        private final RedisChannelHandler<?, ?> connection;

        private final StatefulRedisPubSubConnection<K, V> line;

        private final SubscriptionHeartbeat heartbeat = new SubscriptionHeartbeat(this);

        private volatile boolean ours;

        private Ear(RedisChannelHandler<?, ?> connection, StatefulRedisPubSubConnection<K, V> line) {
            this.connection = connection;
            this.line = line;
        }

        @Override
        public void subscribed(K channel, long count) {
            subscribedTo(channel);
        }

        @Override
        public void psubscribed(K pattern, long count) {
            subscribedTo(pattern);
        }

        private void subscribedTo(Object topic) {
            this.heartbeat.received();
            if (!this.ours && topic instanceof byte[] bytes) {
                this.ours = SubscriptionMonitor.this.observer.isOurs(new String(bytes, StandardCharsets.UTF_8));
            }
            if (this.ours && SubscriptionMonitor.this.lost.remove(this.connection) && isWhole()) {
                SubscriptionMonitor.this.observer.restored();
            }
        }

        @Override
        public void message(K channel, V message) {
            this.heartbeat.received();
        }

        @Override
        public void message(K pattern, K channel, V message) {
            this.heartbeat.received();
        }

        /** Sends a ping; even an error as the answer shows that the network works. */
        @Override
        public boolean request() {
            this.line.async().ping().whenComplete((pong, failure) -> {
                if (failure == null || failure instanceof RedisCommandExecutionException) {
                    this.heartbeat.received();
                }
            });
            return true;
        }

        /**
         * Closes the channel beneath the connection, so that the client reconnects as
         * after any loss. Closing the connection would end it for good, and unsubscribing
         * first would wait for an answer that does not come.
         */
        @Override
        public void drop() {
            SubscriptionMonitor.this.observer.dropped();
            RedisChannelWriter writer = this.connection.getChannelWriter();
            if (((writer instanceof Delegating<?> wrapper) ? wrapper.unwrap()
                    : writer) instanceof DefaultEndpoint end) {
                end.disconnect();
            }
        }

        private void leave() {
            this.line.removeListener(this);
        }

    }

}
