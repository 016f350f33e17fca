package io.delayqueue.redis.wakeup;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.delayqueue.store.StoreFailures;
import io.delayqueue.store.Texts;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.cluster.pubsub.StatefulRedisClusterPubSubConnection;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.RedisPubSubListener;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Subscribes with Lettuce. Channels need one connection, also in a cluster. Keyspace
 * notifications need a pattern on every master of a cluster, because only the node that
 * holds a key publishes them. Each topic has a command of its own, because the server
 * rejects a whole command if its user may not subscribe to one topic in it; such a topic
 * is tried again every few seconds.
 * <p>
 * The client reopens a lost connection and subscribes again, once; it does not report it
 * if the server rejects that. So a queue counts as not subscribed until every connection
 * has confirmed its topic, and if one does not within a few seconds, all are closed and
 * opened again. So are they when the masters have changed, as a master that became a
 * replica would notify besides its successor: they are read every few seconds, because
 * the server does not report a failover to clients. A {@link SubscriptionHeartbeat} finds
 * silent connections.
 * <p>
 * <strong>Threads.</strong> One, given at construction, adds, removes and closes, and
 * handles every answer of Redis; it waits only when it closes. A thread of its own opens
 * a connection. Queues are notified by the client's threads, for several masters at a
 * time.
 */
final class LettuceWakeUpConnection implements WakeUpConnection {

    private static final Logger logger = LoggerFactory.getLogger(LettuceWakeUpConnection.class);

    /**
     * Longest time for which a new master, or one that rejected, is not subscribed to.
     */
    private static final Duration CHECK = Duration.ofSeconds(5);

    private static final Duration RETRY = Duration.ofMillis(500);

    /**
     * Longest time to open a connection. Several hosts may be tried, such as sentinels,
     * and one that is down costs the connect timeout of the client, 10 s by default.
     */
    private static final Duration CONNECT_LIMIT = Duration.ofSeconds(30);

    /** Longest time to wait for an answer on an open connection. */
    private static final Duration LIMIT = Duration.ofSeconds(5);

    private static final Duration CLOSE_LIMIT = Duration.ofSeconds(1);

    /** Most topics that the log names while the server rejects them. */
    private static final int MAX_LINES = 10;

    private final LettuceConnectionFactory factory;

    private final WakeUpMode mode;

    private final ScheduledExecutorService thread;

    /** Period of the heartbeats. */
    private final Duration period;

    private final Map<String, PartitionListeners> wanted = new ConcurrentHashMap<>();

    /** Addresses of the masters that the links are for, by id. */
    private Map<String, String> masters = Map.of();

    /** By the id of the master, which is empty if any node will do. */
    private final Map<String, Link> links = new ConcurrentHashMap<>();

    private @Nullable CompletableFuture<StatefulRedisPubSubConnection<byte[], byte[]>> connection;

    private @Nullable Future<?> nextCheck;

    private @Nullable Future<?> heartbeats;

    private volatile boolean closed;

    private boolean away;

    /** The topics whose rejection was logged since all were subscribed. */
    private final Set<String> logged = new HashSet<>();

    /**
     * Prepares a subscription, which begins with the first queue.
     * @param thread the single thread that makes all calls
     * @param period of the heartbeat of each link
     */
    LettuceWakeUpConnection(LettuceConnectionFactory factory, WakeUpMode mode, ScheduledExecutorService thread,
            Duration period) {
        this.factory = factory;
        this.mode = mode;
        this.thread = thread;
        this.period = period;
    }

    @Override
    public void add(PartitionListeners queue) {
        this.wanted.put(queue.topic(), queue);
        this.links.values().forEach((link) -> link.subscribe(List.of(queue)));
        if (this.heartbeats == null) {
            this.heartbeats = this.thread.scheduleWithFixedDelay(() -> this.links.values().forEach(Link::beat),
                    this.period.toMillis(), this.period.toMillis(), TimeUnit.MILLISECONDS);
            check();
        }
    }

    @Override
    public void remove(PartitionListeners queue) {
        this.wanted.remove(queue.topic());
        this.links.values().forEach((link) -> link.unsubscribe(queue));
    }

    @Override
    public void close() {
        this.closed = true;
        if (this.heartbeats != null) {
            this.heartbeats.cancel(false);
        }
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

    /** Connects if necessary, reads the masters, and schedules the next check. */
    private void check() {
        if (this.closed) {
            return;
        }
        CompletableFuture<StatefulRedisPubSubConnection<byte[], byte[]>> current = this.connection;
        if (current == null) {
            current = LettuceSubscriptions.open(this.factory);
            this.connection = current;
        }
        CompletableFuture<StatefulRedisPubSubConnection<byte[], byte[]>> checked = current;
        current.copy() // a connection that opens later must still be closed
            .orTimeout(CONNECT_LIMIT.toMillis(), TimeUnit.MILLISECONDS)
            .thenCompose((open) -> LettuceSubscriptions.readMasters(open, this.mode)
                .orTimeout(LIMIT.toMillis(), TimeUnit.MILLISECONDS))
            .whenCompleteAsync((found, failure) -> {
                if (!this.closed && this.connection == checked) {
                    checked(found, failure);
                }
            }, this.thread);
    }

    private void checked(@Nullable Map<String, String> found, @Nullable Throwable failure) {
        if (found == null) {
            failed(failure);
            reconnectIn(RETRY);
        }
        else if (!this.masters.isEmpty() && !this.masters.equals(found)) {
            logger.debug("The masters of the cluster are now {}", found);
            reconnectIn(Duration.ZERO);
        }
        else {
            this.masters = found;
            found.keySet().forEach(this::openLink);
            checkIn(CHECK);
        }
    }

    private void reconnectIn(Duration pause) {
        disconnect();
        checkIn(pause);
    }

    private void checkIn(Duration pause) {
        if (this.nextCheck != null) {
            this.nextCheck.cancel(false);
        }
        this.nextCheck = this.thread.schedule(this::check, pause.toMillis(), TimeUnit.MILLISECONDS);
    }

    private void openLink(String master) {
        Link old = this.links.get(master);
        if (old != null && !old.failed) {
            old.retryRejected();
        }
        else if (this.connection != null) {
            Link link = new Link(master, this.connection
                .thenCompose((open) -> master.isEmpty() ? CompletableFuture.completedFuture(open)
                        : ((StatefulRedisClusterPubSubConnection<byte[], byte[]>) open).getConnectionAsync(master)));
            this.links.put(master, link);
            link.subscribe(this.wanted.values());
        }
    }

    private void failed(@Nullable Throwable failure) {
        if (!this.closed && !this.away) {
            this.away = true;
            Throwable cause = (failure != null) ? StoreFailures.unwrap(failure) : null;
            logger.warn("Cannot subscribe to all wake-ups; retrying, meanwhile the safety poll finds the messages "
                    + "that are not announced: {}", String.valueOf(cause));
        }
    }

    /** Logs a topic that the server rejects, once until all are subscribed again. */
    private void rejected(String topic, Throwable failure) {
        if (this.logged.size() < MAX_LINES && this.logged.add(topic)) {
            logger.warn(
                    "Cannot subscribe to '{}'; retrying every {}, meanwhile the safety poll finds the messages of "
                            + "this queue. Allow the Redis user to subscribe to it: {}",
                    topic, Texts.span(CHECK), String.valueOf(failure.getMessage()));
        }
    }

    private void restored() {
        Set<String> topics = this.wanted.keySet();
        if (this.links.values().stream().allMatch((link) -> link.topics.containsAll(topics))) {
            if (this.away || !this.logged.isEmpty()) {
                logger.info("Subscribed to all wake-ups again");
            }
            this.away = false;
            this.logged.clear();
        }
        else if (this.away && this.links.values().stream().allMatch((link) -> link.isAnswered(topics))) {
            this.away = false;
            logger.info("Subscribed to wake-ups again, except those that the server rejects");
        }
    }

    private void lost() {
        this.wanted.values().forEach(PartitionListeners::lost);
    }

    private boolean isComplete(String topic) {
        return this.links.values().stream().allMatch((link) -> link.topics.contains(topic));
    }

    /** Disconnects; waits for connections under way before it closes them. */
    private CompletableFuture<Void> disconnect() {
        CompletableFuture<StatefulRedisPubSubConnection<byte[], byte[]>> current = this.connection;
        CompletableFuture<Void> linked = CompletableFuture
            .allOf(this.links.values().stream().map((link) -> link.open).toArray(CompletableFuture[]::new));
        this.connection = null;
        this.links.clear();
        this.masters = Map.of();
        lost();
        if (current == null) {
            return CompletableFuture.completedFuture(null);
        }
        return current.thenCompose((open) -> linked.handle((done, failure) -> open))
            .thenCompose(StatefulRedisPubSubConnection::closeAsync);
    }

    /** Receives the subscriptions and messages of a connection, and its loss. */
    private final class Link extends RedisPubSubAdapter<byte[], byte[]>
            implements RedisConnectionStateListener, SubscriptionHeartbeat.MonitoredConnection {

        private final String master;

        private final CompletableFuture<StatefulRedisPubSubConnection<byte[], byte[]>> open;

        private final SubscriptionHeartbeat heartbeat = new SubscriptionHeartbeat(this);

        /** The topics that the server has confirmed since the connection was opened. */
        private final Set<String> topics = ConcurrentHashMap.newKeySet();

        /** The queues whose topics the server has rejected, and not confirmed since. */
        private final Set<PartitionListeners> rejected = new HashSet<>();

        /** Whether another link should be tried. */
        private boolean failed;

        private Link(String master, CompletableFuture<StatefulRedisPubSubConnection<byte[], byte[]>> opening) {
            this.master = master;
            this.open = opening.thenApply((connection) -> {
                connection.addListener((RedisConnectionStateListener) this);
                connection.addListener((RedisPubSubListener<byte[], byte[]>) this);
                return connection;
            });
        }

        private boolean isPresent() {
            return LettuceWakeUpConnection.this.links.get(this.master) == this;
        }

        /** Subscribes to each topic alone, without waiting for the answers. */
        private void subscribe(Collection<PartitionListeners> queues) {
            queues.forEach((queue) -> this.open.thenCompose((connection) -> subscribe(connection, queue))
                .orTimeout(LIMIT.toMillis(), TimeUnit.MILLISECONDS)
                .whenCompleteAsync((done, failure) -> rejected(queue, failure), LettuceWakeUpConnection.this.thread));
        }

        private RedisFuture<Void> subscribe(StatefulRedisPubSubConnection<byte[], byte[]> connection,
                PartitionListeners queue) {
            byte[] name = bytes(queue.topic());
            return (LettuceWakeUpConnection.this.mode == WakeUpMode.KEYSPACE) ? connection.async().psubscribe(name)
                    : connection.async().subscribe(name);
        }

        private void retryRejected() {
            subscribe(List.copyOf(this.rejected));
        }

        private void unsubscribe(PartitionListeners queue) {
            byte[] name = bytes(queue.topic());
            this.topics.remove(queue.topic());
            this.rejected.remove(queue);
            this.open.thenAccept((connection) -> {
                if (LettuceWakeUpConnection.this.mode == WakeUpMode.KEYSPACE) {
                    connection.async().punsubscribe(name);
                }
                else {
                    connection.async().unsubscribe(name);
                }
            });
        }

        /** Handles the rejection of one queue, or the failure of the whole link. */
        private void rejected(PartitionListeners queue, @Nullable Throwable failure) {
            if (failure == null || LettuceWakeUpConnection.this.closed || this.failed || !isPresent()) {
                return;
            }
            Throwable cause = StoreFailures.unwrap(failure);
            if (!this.open.isDone() || this.open.isCompletedExceptionally()) {
                fail(failure);
            }
            else if (!(cause instanceof RedisCommandExecutionException)) {
                LettuceWakeUpConnection.this.failed(failure);
                reconnectIn(RETRY); // another link would use the same connection
            }
            else if (LettuceWakeUpConnection.this.wanted.get(queue.topic()) == queue) {
                this.topics.remove(queue.topic());
                this.rejected.add(queue);
                queue.lost();
                LettuceWakeUpConnection.this.rejected(queue.topic(), cause);
                LettuceWakeUpConnection.this.restored();
            }
        }

        /** Gives up a link that could not be opened; the next check opens another one. */
        private void fail(Throwable failure) {
            this.topics.clear();
            this.failed = true;
            this.open.thenAccept((connection) -> {
                connection.removeListener((RedisConnectionStateListener) this);
                connection.removeListener((RedisPubSubListener<byte[], byte[]>) this);
            });
            LettuceWakeUpConnection.this.failed(failure);
            LettuceWakeUpConnection.this.lost();
        }

        @Override
        public void subscribed(byte[] channel, long count) {
            confirmed(channel);
        }

        @Override
        public void psubscribed(byte[] pattern, long count) {
            confirmed(pattern);
        }

        /** Confirms a queue if no other link has still to confirm it. */
        private void confirmed(byte[] name) {
            if (!isPresent()) {
                return; // an answer on a connection that was given up
            }
            this.heartbeat.received();
            String topic = text(name);
            PartitionListeners queue = LettuceWakeUpConnection.this.wanted.get(topic);
            if (queue == null) {
                return;
            }
            this.topics.add(topic);
            LettuceWakeUpConnection.this.thread.execute(() -> this.rejected.remove(queue));
            if (LettuceWakeUpConnection.this.isComplete(topic)) {
                queue.confirmed();
                LettuceWakeUpConnection.this.thread.execute(LettuceWakeUpConnection.this::restored);
            }
            else {
                queue.poll(); // messages of this master at least
            }
        }

        @Override
        public void message(byte[] channel, byte[] message) {
            this.heartbeat.received();
            PartitionListeners queue = LettuceWakeUpConnection.this.wanted.get(text(channel));
            if (queue != null) {
                queue.received(message);
            }
        }

        @Override
        public void message(byte[] pattern, byte[] channel, byte[] message) {
            message(pattern, message);
        }

        /** Checks later, as the client does not report that the server rejects it. */
        @Override
        public void onRedisDisconnected(RedisChannelHandler<?, ?> ended) {
            Set<String> confirmed = Set.copyOf(this.topics);
            this.topics.clear();
            if (!isPresent() || LettuceWakeUpConnection.this.closed) {
                return;
            }
            LettuceWakeUpConnection.this.lost();
            LettuceWakeUpConnection.this.thread.schedule(() -> {
                if (isPresent() && !isAnswered(confirmed)) {
                    LettuceWakeUpConnection.this
                        .failed(new IllegalStateException("The server has not subscribed this client again"));
                    reconnectIn(RETRY);
                }
            }, LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        }

        /**
         * Returns whether the server has confirmed or rejected topics that are wanted.
         */
        private boolean isAnswered(Set<String> names) {
            for (String name : names) {
                PartitionListeners queue = LettuceWakeUpConnection.this.wanted.get(name);
                if (queue != null && !this.topics.contains(name) && !this.rejected.contains(queue)) {
                    return false;
                }
            }
            return true;
        }

        private void beat() {
            if (!this.topics.isEmpty()) {
                this.heartbeat.beat();
            }
        }

        /** Sends a ping; even an error as the answer shows that the network works. */
        @Override
        public boolean request() {
            this.open.thenCompose((connection) -> connection.async().ping()).whenComplete((pong, failure) -> {
                if (failure == null || StoreFailures.unwrap(failure) instanceof RedisCommandExecutionException) {
                    this.heartbeat.received();
                }
            });
            return true;
        }

        /** Opens all links again; to unsubscribe would wait for an answer. */
        @Override
        public void drop() {
            SubscriptionHeartbeat.warn();
            reconnectIn(Duration.ZERO);
        }

        private static byte[] bytes(String text) {
            return text.getBytes(StandardCharsets.UTF_8);
        }

        private static String text(byte[] bytes) {
            return new String(bytes, StandardCharsets.UTF_8);
        }

    }

}
