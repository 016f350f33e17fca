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
 * Watches the connections of a Lettuce client that our subscriptions are on, and reports
 * which of them are lost. Lettuce connects again and subscribes once more; a refusal of
 * that by the server it reports to nobody. A connection that carries nothing any more is
 * dropped, by the {@link SubscriptionHeartbeat} that each has: its request is a
 * {@code PING}, which a subscribed connection may send. The client may have subscriptions
 * of the application as well, on connections of their own: what a connection subscribes
 * to says whether it is ours.
 * <p>
 * <strong>Threads.</strong> Those of the client, which must not be blocked; any other
 * thread begins and ends it.
 */
final class SubscriptionMonitor implements RedisConnectionStateListener {

    private static final Logger logger = LoggerFactory.getLogger(SubscriptionMonitor.class);

    private final AbstractRedisClient client;

    private final Observer observer;

    /** What listens to each connection that is open. */
    private final Map<RedisChannelHandler<?, ?>, Ear<?, ?>> ears = new ConcurrentHashMap<>();

    /**
     * Those of ours that were lost and have not subscribed again: the client connects the
     * same ones.
     */
    private final Set<RedisChannelHandler<?, ?>> lost = ConcurrentHashMap.newKeySet();

    private @Nullable Future<?> beats;

    private SubscriptionMonitor(AbstractRedisClient client, Observer observer) {
        this.client = client;
        this.observer = observer;
    }

    /**
     * Begins to watch the client that a factory has by now.
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

    /** Reports nothing from now on, and drops nothing. */
    void close() {
        this.client.removeListener(this);
        if (this.beats != null) {
            this.beats.cancel(false);
        }
        this.ears.values().forEach((ear) -> ear.ours = false);
        this.lost.clear();
    }

    /** Whether no connection of ours is lost. */
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
                logger.debug("Cannot check a subscribed connection", ex); // or there
                                                                          // would be no
                                                                          // further beat
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

    /** Learns of losses. */
    interface Observer {

        /** Whether this channel or pattern is one of ours. */
        boolean isOurs(String topic);

        /** A connection of ours is lost. */
        void lost();

        /** A connection of ours is about to be dropped, as it carries nothing. */
        void dropped();

        /**
         * The connection is there again, and has asked for its subscriptions or soon
         * will.
         */
        void reconnected();

        /** Every connection that was lost has subscribed again. */
        default void restored() {
        }

    }

    /** Receives what a connection subscribes to and what comes on it. */
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

        /** Any answer will do: an error shows as well that the network carries it. */
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
         * Closes the channel beneath the connection, so that the client connects again as
         * after any loss. To close the connection would end it for good, and to
         * unsubscribe first would wait for an answer that does not come.
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
