package io.delayqueue.redis.wakeup;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

import io.delayqueue.store.WakeUpSignal;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.models.partitions.ClusterPartitionParser;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode.NodeFlag;
import io.lettuce.core.cluster.pubsub.RedisClusterPubSubAdapter;
import io.lettuce.core.cluster.pubsub.StatefulRedisClusterPubSubConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.connection.DefaultMessage;
import org.springframework.data.redis.connection.MessageListener;
import org.springframework.data.redis.connection.SubscriptionListener;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.listener.Topic;

/**
 * Subscribes to patterns on every master of a cluster, as keyspace notifications require:
 * only the node that holds a key publishes them.
 * <p>
 * Each master has a link of its own. One more link reads the masters every few seconds:
 * the server does not report a failover to clients, and this client refreshes the
 * topology only where the application configures that. When the masters have changed, all
 * links are replaced, as a master that became a replica would notify besides its
 * successor. Listeners receive the subscription on each master, so that they poll for
 * messages that they missed. The client reopens a lost link and subscribes again; until
 * that is confirmed for every such link, listeners count as not subscribed.
 * <p>
 * <strong>Threads.</strong> One, given at construction, adds, removes and closes, and
 * handles every answer of Redis; it waits only when it closes. Listeners are called by
 * the client's threads, for several masters at a time.
 */
final class ClusterSubscription implements TopicSubscription {

    private static final Logger logger = LoggerFactory.getLogger(ClusterSubscription.class);

    /** Longest time for which a new master is not subscribed to. */
    private static final Duration CHECK = Duration.ofSeconds(5);

    private static final Duration RETRY = Duration.ofMillis(500);

    private static final Duration LIMIT = Duration.ofSeconds(5);

    private static final Duration CLOSE_LIMIT = Duration.ofSeconds(1);

    private final LettuceConnectionFactory factory;

    private final ScheduledExecutorService thread;

    /** Period of the heartbeats. */
    private final Duration period;

    private final Map<String, MessageListener> wanted = new ConcurrentHashMap<>();

    /** Ids and addresses of the masters for which the connection was made. */
    private Map<String, String> masters = Map.of();

    /**
     * Links to the masters that are or soon will be subscribed to, by the master's id.
     */
    private final Map<String, CompletableFuture<StatefulRedisPubSubConnection<byte[], byte[]>>> links = new HashMap<>();

    private @Nullable CompletableFuture<StatefulRedisClusterPubSubConnection<byte[], byte[]>> connection;

    /** Monitors the links of the present connection. */
    private volatile @Nullable SubscriptionMonitor watch;

    private boolean started;

    private volatile boolean closed;

    private boolean away;

    /**
     * Prepares a subscription, which begins with the first topic.
     * @param factory of connections to a cluster
     * @param thread the single thread that makes all calls
     * @param period of the heartbeat of each link
     */
    ClusterSubscription(LettuceConnectionFactory factory, ScheduledExecutorService thread, Duration period) {
        this.factory = factory;
        this.thread = thread;
        this.period = period;
    }

    @Override
    public void add(Topic topic, MessageListener listener) {
        this.wanted.put(topic.getTopic(), listener);
        if (this.started) {
            this.links.keySet().forEach((master) -> subscribe(master, bytes(topic.getTopic())));
            return;
        }
        this.started = true;
        look();
    }

    @Override
    public void remove(Topic topic) {
        this.wanted.remove(topic.getTopic());
        this.links.values()
            .forEach((link) -> link.thenAccept((open) -> open.async().punsubscribe(bytes(topic.getTopic()))));
    }

    @Override
    public void close() {
        this.closed = true;
        try {
            disconnect().get(CLOSE_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
        catch (ExecutionException | TimeoutException ex) {
            logger.debug("The subscription has not ended in order", ex);
        }
    }

    /** Reads the masters, and schedules the next read. */
    private void look() {
        if (this.closed) {
            return;
        }
        CompletableFuture<StatefulRedisClusterPubSubConnection<byte[], byte[]>> ours = this.connection;
        if (ours == null) {
            ours = connect();
            this.connection = ours;
        }
        ours.thenCompose((open) -> open.async().clusterNodes())
            .thenApply(ClusterSubscription::mastersOf)
            .orTimeout(LIMIT.toMillis(), TimeUnit.MILLISECONDS)
            .whenCompleteAsync(this::looked, this.thread);
    }

    /** Connects; refreshes the client's topology first, as it may be outdated. */
    private CompletableFuture<StatefulRedisClusterPubSubConnection<byte[], byte[]>> connect() {
        try {
            RedisClusterClient client = (RedisClusterClient) this.factory.getRequiredNativeClient();
            this.watch = SubscriptionMonitor.of(this.factory, new LinkObserver(), this.period);
            return client.refreshPartitionsAsync()
                .toCompletableFuture()
                .thenCompose((done) -> this.closed ? CompletableFuture.failedFuture(new CancellationException())
                        : client.connectPubSubAsync(ByteArrayCodec.INSTANCE))
                .thenApply((open) -> {
                    open.addListener(new Told());
                    open.setNodeMessagePropagation(true);
                    return open;
                });
        }
        catch (RuntimeException ex) {
            return CompletableFuture.failedFuture(ex);
        }
    }

    private static Map<String, String> mastersOf(String clusterNodes) {
        return ClusterPartitionParser.parse(clusterNodes)
            .getPartitions()
            .stream()
            .filter((node) -> node.is(NodeFlag.UPSTREAM) && !node.is(NodeFlag.FAIL) && !node.hasNoSlots())
            .collect(Collectors.toMap(RedisClusterNode::getNodeId, (node) -> String.valueOf(node.getUri())));
    }

    private void looked(@Nullable Map<String, String> found, @Nullable Throwable failure) {
        if (this.closed) {
            return;
        }
        if (found == null) {
            failed(failure);
            disconnect();
            lookIn(RETRY);
        }
        else if (!this.masters.isEmpty() && !this.masters.equals(found)) {
            logger.debug("The masters of the cluster are now {}", found);
            disconnect();
            look();
        }
        else {
            this.masters = found;
            found.keySet().stream().filter((master) -> !this.links.containsKey(master)).forEach(this::join);
            lookIn(CHECK);
        }
    }

    private void lookIn(Duration pause) {
        this.thread.schedule(this::look, pause.toMillis(), TimeUnit.MILLISECONDS);
    }

    private void join(String master) {
        CompletableFuture<StatefulRedisClusterPubSubConnection<byte[], byte[]>> ours = this.connection;
        if (ours != null) {
            CompletableFuture<StatefulRedisPubSubConnection<byte[], byte[]>> link = ours
                .thenCompose((open) -> open.getConnectionAsync(master));
            this.links.put(master, link);
            subscribe(master, this.wanted.keySet().stream().map(ClusterSubscription::bytes).toArray(byte[][]::new));
        }
    }

    private void subscribe(String master, byte[]... patterns) {
        CompletableFuture<StatefulRedisPubSubConnection<byte[], byte[]>> link = this.links.get(master);
        if (link == null || patterns.length == 0) {
            return;
        }
        link.thenCompose((open) -> open.async().psubscribe(patterns))
            .orTimeout(LIMIT.toMillis(), TimeUnit.MILLISECONDS)
            .whenCompleteAsync((done, failure) -> {
                if (this.closed || this.links.get(master) != link) {
                    return;
                }
                if (failure != null) {
                    this.links.remove(master);
                    lost();
                    failed(failure);
                }
                else if (this.away && isEveryMasterHeard()) {
                    this.away = false;
                    logger.info("Subscribed to the wake-ups of every master of the cluster again");
                }
            }, this.thread);
    }

    private boolean isEveryMasterHeard() {
        return this.links.keySet().equals(this.masters.keySet())
                && this.links.values().stream().allMatch(CompletableFuture::isDone);
    }

    private void failed(@Nullable Throwable failure) {
        if (!this.closed && !this.away) {
            this.away = true;
            Throwable cause = (failure instanceof CompletionException) ? failure.getCause() : failure;
            logger.warn(
                    "Cannot subscribe to the wake-ups of every master of the cluster; trying again, meanwhile "
                            + "messages of those that are not heard are found by the safety poll: {}",
                    String.valueOf(cause));
        }
    }

    /** Reports that not every master is subscribed to. */
    private void lost() {
        this.wanted.forEach(ClusterSubscription::lost);
    }

    private static void lost(String pattern, MessageListener listener) {
        if (listener instanceof SubscriptionListener subscriptions) {
            subscriptions.onPatternUnsubscribed(bytes(pattern), 0);
        }
    }

    private boolean isEveryLinkWhole() {
        SubscriptionMonitor ours = this.watch;
        return ours == null || ours.isWhole();
    }

    /** Disconnects; waits for connections under way before it closes them. */
    private CompletableFuture<Void> disconnect() {
        CompletableFuture<StatefulRedisClusterPubSubConnection<byte[], byte[]>> ours = this.connection;
        CompletableFuture<Void> joined = CompletableFuture.allOf(this.links.values().toArray(CompletableFuture[]::new));
        this.connection = null;
        this.links.clear();
        this.masters = Map.of();
        if (this.watch != null) {
            this.watch.close();
            this.watch = null;
        }
        lost();
        if (ours == null) {
            return CompletableFuture.completedFuture(null);
        }
        return ours.thenCompose((open) -> joined.handle((done, failure) -> open))
            .thenCompose(StatefulRedisClusterPubSubConnection::closeAsync);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /** Passes on messages and subscriptions of the masters. */
    private final class Told extends RedisClusterPubSubAdapter<byte[], byte[]> {

        @Override
        public void message(RedisClusterNode node, byte[] pattern, byte[] channel, byte[] message) {
            MessageListener listener = ClusterSubscription.this.wanted.get(text(pattern));
            if (listener != null) {
                listener.onMessage(new DefaultMessage(channel, message), pattern);
            }
        }

        @Override
        public void psubscribed(RedisClusterNode node, byte[] pattern, long count) {
            if (ClusterSubscription.this.wanted.get(text(pattern)) instanceof PartitionSubscription listener) {
                if (isEveryLinkWhole()) {
                    listener.onPatternSubscribed(pattern, count);
                }
                else {
                    listener.tell(WakeUpSignal.LOOK); // messages of this master at least
                }
            }
        }

    }

    /** Handles the links that the client has lost; called by its threads. */
    private final class LinkObserver implements SubscriptionMonitor.Observer {

        @Override
        public boolean isOurs(String topic) {
            return ClusterSubscription.this.wanted.containsKey(topic);
        }

        @Override
        public void lost() {
            ClusterSubscription.this.lost();
        }

        @Override
        public void dropped() {
            ClusterSubscription.this.thread.execute(SubscriptionHeartbeat::warn);
        }

        /** Checks later, as the client does not report that a master rejects it. */
        @Override
        public void reconnected() {
            SubscriptionMonitor ours = ClusterSubscription.this.watch;
            ClusterSubscription.this.thread.schedule(() -> {
                if (ours != null && ours == ClusterSubscription.this.watch && !ours.isWhole()) {
                    failed(new IllegalStateException("A master has not subscribed this client again"));
                    disconnect(); // the next read, which is planned, connects
                }
            }, LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        }

        @Override
        public void restored() {
            ClusterSubscription.this.wanted.forEach((pattern, listener) -> {
                if (listener instanceof SubscriptionListener subscriptions) {
                    subscriptions.onPatternSubscribed(bytes(pattern), 0);
                }
            });
        }

    }

}
