package io.delayqueue.redis.wakeup;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.delayqueue.store.Texts;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.BinaryJedisPubSub;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.UnifiedJedis;

import org.springframework.data.redis.connection.Message;
import org.springframework.data.redis.connection.MessageListener;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.Subscription;
import org.springframework.data.redis.connection.SubscriptionListener;
import org.springframework.data.redis.connection.jedis.JedisConnection;
import org.springframework.util.ClassUtils;

/**
 * Subscribes with a client that blocks a thread while it is subscribed, as Jedis does.
 * Uses one connection and one thread for all queues, as more would exhaust the pool.
 * <p>
 * With such a client only the subscribed thread may subscribe and unsubscribe. It returns
 * the connection to its pool once it has read the last answer, when another thread that
 * sent a command may not have cleared the connection's buffer yet: the command would be
 * sent twice, and the next user of the connection would read the wrong answers. So there
 * is a control channel, which is subscribed first. Other threads record the queues that
 * they want and send a message there; then the subscribed thread applies the difference,
 * or ends. The {@link SubscriptionHeartbeat} also sends its request there.
 * <p>
 * A thread that reads from a silent connection is left, and another one subscribes on
 * another connection. The socket of Jedis is closed, which ends the thread.
 * <p>
 * <strong>Threads.</strong> One, {@code delayqueue-subscription}, subscribes, notifies
 * the queues and, after a failure, subscribes again. Any one thread at a time adds,
 * removes, closes and runs the heartbeat.
 */
final class BlockingWakeUpConnection implements WakeUpConnection, SubscriptionHeartbeat.MonitoredConnection {

    private static final Logger logger = LoggerFactory.getLogger(BlockingWakeUpConnection.class);

    private static final boolean JEDIS = ClassUtils.isPresent("redis.clients.jedis.RedisClusterClient",
            BlockingWakeUpConnection.class.getClassLoader());

    private static final Duration RETRY = Duration.ofMillis(500);

    private final RedisConnectionFactory factory;

    private final WakeUpMode mode;

    private final String control;

    private final ScheduledExecutorService timer;

    private final Duration period;

    private final SubscriptionHeartbeat heartbeat = new SubscriptionHeartbeat(this);

    private final Map<String, PartitionListeners> wanted = new ConcurrentHashMap<>();

    private final CountDownLatch closed = new CountDownLatch(1);

    private volatile boolean away;

    /** {@code null} before the first queue. */
    private volatile @Nullable Link link;

    private @Nullable Future<?> heartbeats;

    /**
     * Prepares a subscription, which begins with the first queue.
     * @param control a channel of this subscription only
     * @param timer runs the heartbeat
     * @param period of the heartbeat
     */
    BlockingWakeUpConnection(RedisConnectionFactory factory, WakeUpMode mode, String control,
            ScheduledExecutorService timer, Duration period) {
        this.factory = factory;
        this.mode = mode;
        this.control = control;
        this.timer = timer;
        this.period = period;
    }

    @Override
    public void add(PartitionListeners queue) {
        this.wanted.put(queue.topic(), queue);
        if (this.link != null) {
            request();
            return;
        }
        this.heartbeats = this.timer.scheduleWithFixedDelay(this::beat, this.period.toMillis(), this.period.toMillis(),
                TimeUnit.MILLISECONDS);
        open();
    }

    /** Subscribes on a thread; if none can be started, the next heartbeat tries again. */
    private synchronized void open() {
        Link fresh = new Link();
        this.link = fresh;
        try {
            fresh.thread.start();
        }
        catch (OutOfMemoryError ex) {
            failed(ex);
        }
    }

    @Override
    public void remove(PartitionListeners queue) {
        this.wanted.remove(queue.topic());
        request();
    }

    @Override
    public void close() {
        this.closed.countDown();
        if (this.heartbeats != null) {
            this.heartbeats.cancel(false);
        }
        Link current = this.link;
        if (current != null && !request()) {
            current.disconnect();
        }
    }

    /**
     * Publishes to the control channel and waits for Redis. If Redis rejects that or is
     * away, missing messages prove nothing, and changes are applied at the next message,
     * heartbeat or reconnect.
     */
    @Override
    public boolean request() {
        try (RedisConnection other = this.factory.getConnection()) {
            other.publish(bytes(this.control), new byte[0]);
            return true;
        }
        catch (RuntimeException ex) {
            logger.debug("Cannot send to '{}'", this.control, ex);
            return false;
        }
    }

    private void beat() {
        Link current = this.link;
        if (current != null && !reopened(current) && current.connection != null) {
            this.heartbeat.beat();
        }
    }

    /** Replaces a link whose thread could not start, or ended with an error. */
    private synchronized boolean reopened(Link current) {
        boolean ended = current == this.link && !current.thread.isAlive() && !isClosed();
        if (ended) {
            lost();
            open();
        }
        return ended;
    }

    @Override
    public void drop() {
        SubscriptionHeartbeat.warn();
        Link old = this.link;
        if (old != null) {
            old.replaced = true;
            lost(); // before another link can subscribe
            this.away = true;
            open();
            old.disconnect();
        }
    }

    private void lost() {
        this.wanted.values().forEach(PartitionListeners::lost);
    }

    private void failed(Throwable failure) {
        if (!isClosed() && !this.away) {
            this.away = true;
            logger.warn("Cannot subscribe to {}; retrying every {}, meanwhile messages are found by the safety "
                    + "poll: {}", this.wanted.keySet(), Texts.span(RETRY), failure.toString());
        }
    }

    private void pause() {
        try {
            if (this.closed.await(RETRY.toMillis(), TimeUnit.MILLISECONDS)) {
                logger.debug("The subscription ends");
            }
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean isClosed() {
        return this.closed.getCount() == 0;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Runs the subscribed thread, on one connection after another. */
    private final class Link implements MessageListener, SubscriptionListener {

        private final Thread thread = new Thread(this::run, "delayqueue-subscription");

        /** The queues that this connection has subscribed to, by topic. */
        private final Map<String, PartitionListeners> subscribed = new ConcurrentHashMap<>();

        /** Set while the connection is subscribed, or about to be. */
        private volatile @Nullable RedisConnection connection;

        /** Whether another link has replaced this one. */
        private volatile boolean replaced;

        private Link() {
            this.thread.setDaemon(true);
        }

        private void run() {
            while (!isOver()) {
                this.subscribed.clear();
                try (RedisConnection fresh = BlockingWakeUpConnection.this.factory.getConnection()) {
                    byte[] control = bytes(BlockingWakeUpConnection.this.control);
                    // Needs the same right: after a rejected subscription, Jedis returns
                    // a connection to the pool with an answer still to come.
                    fresh.publish(control, new byte[0]);
                    RedisConnection current = JEDIS ? JedisSockets.closable(fresh) : fresh;
                    this.connection = current;
                    current.subscribe(this, control);
                    pause();
                    while (!isOver() && current.isSubscribed()) {
                        pause(); // for a client that does not block
                    }
                }
                catch (RuntimeException ex) {
                    if (!this.replaced) {
                        failed(ex);
                    }
                }
                this.connection = null;
                if (!this.replaced) {
                    lost();
                    pause();
                }
            }
            logger.debug("The subscription has ended");
        }

        private boolean isOver() {
            return this.replaced || isClosed();
        }

        /** Ends the thread of a client whose sockets can be closed. */
        private void disconnect() {
            RedisConnection current = this.connection;
            if (current != null && JEDIS) {
                JedisSockets.close(current);
            }
        }

        @Override
        public void onMessage(Message message, byte @Nullable [] pattern) {
            byte[] topic = (pattern != null && pattern.length > 0) ? pattern : message.getChannel();
            PartitionListeners queue = received(topic);
            if (queue != null) {
                queue.received(message.getBody());
            }
        }

        @Override
        public void onChannelSubscribed(byte[] channel, long count) {
            confirmed(channel);
        }

        @Override
        public void onPatternSubscribed(byte[] pattern, long count) {
            confirmed(pattern);
        }

        private void confirmed(byte[] topic) {
            PartitionListeners queue = received(topic);
            if (queue != null) {
                if (BlockingWakeUpConnection.this.away) {
                    BlockingWakeUpConnection.this.away = false;
                    logger.info("Subscribed to {} again", BlockingWakeUpConnection.this.wanted.keySet());
                }
                queue.confirmed();
            }
        }

        /** Returns the queue of a topic; {@code null} if none, or not to be notified. */
        private @Nullable PartitionListeners received(byte[] topic) {
            adjust();
            if (this.replaced) {
                return null;
            }
            BlockingWakeUpConnection.this.heartbeat.received();
            return BlockingWakeUpConnection.this.wanted.get(new String(topic, StandardCharsets.UTF_8));
        }

        /**
         * Applies the topics that are wanted; called by the subscribed thread. Subscribes
         * again to a topic that has been removed and added meanwhile, as the added queue
         * awaits a confirmation.
         */
        private void adjust() {
            RedisConnection current = this.connection;
            Subscription subscription = (current != null) ? current.getSubscription() : null;
            if (subscription == null || !subscription.isAlive()) {
                return;
            }
            if (isOver()) {
                subscription.close();
                return;
            }
            boolean patterns = BlockingWakeUpConnection.this.mode == WakeUpMode.KEYSPACE;
            Map<String, PartitionListeners> wanted = Map.copyOf(BlockingWakeUpConnection.this.wanted);
            List<String> added = wanted.keySet()
                .stream()
                .filter((topic) -> this.subscribed.get(topic) != wanted.get(topic))
                .toList();
            List<String> removed = this.subscribed.keySet()
                .stream()
                .filter((topic) -> !wanted.containsKey(topic))
                .toList();
            this.subscribed.keySet().retainAll(wanted.keySet());
            this.subscribed.putAll(wanted);
            send(added, patterns ? subscription::pSubscribe : subscription::subscribe);
            send(removed, patterns ? subscription::pUnsubscribe : subscription::unsubscribe);
        }

        private static void send(List<String> topics, Consumer<byte[][]> command) {
            if (!topics.isEmpty()) {
                command.accept(topics.stream().map(BlockingWakeUpConnection::bytes).toArray(byte[][]::new));
            }
        }

    }

    /**
     * Gives access to the sockets of Jedis, whose classes may be absent. The connections
     * of Spring Data hide them, except of a client made without a pool.
     */
    private static final class JedisSockets {

        private static final int SLOTS = 16_384;

        /** Returns a connection whose socket can be closed; else the same one. */
        static RedisConnection closable(RedisConnection connection) {
            if (connection.getNativeConnection() instanceof RedisClusterClient cluster) {
                return new JedisConnection(
                        new OneSocket(cluster.getConnectionFromSlot(ThreadLocalRandom.current().nextInt(SLOTS))));
            }
            return (connection.getNativeConnection() instanceof RedisClient client)
                    ? new JedisConnection(new OneSocket(client.getPool().getResource())) : connection;
        }

        static void close(RedisConnection connection) {
            Object client = connection.getNativeConnection();
            try {
                if (client instanceof OneSocket one) {
                    one.socket.forceDisconnect();
                }
                else if (client instanceof Jedis jedis) {
                    jedis.getConnection().forceDisconnect();
                }
            }
            catch (IOException ex) {
                logger.debug("Cannot close the socket", ex);
            }
        }

    }

    /** Subscribes on one connection of a pool, which it returns afterwards. */
    private static final class OneSocket extends UnifiedJedis {

        private final Connection socket;

        @SuppressWarnings("deprecation") // as Spring Data does
        OneSocket(Connection socket) {
            super(socket);
            this.socket = socket;
        }

        @Override
        public void subscribe(BinaryJedisPubSub listener, byte[]... channels) {
            try (this.socket) {
                listener.proceed(this.socket, channels);
            }
        }

    }

}
