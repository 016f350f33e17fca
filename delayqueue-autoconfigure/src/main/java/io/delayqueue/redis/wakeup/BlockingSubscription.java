package io.delayqueue.redis.wakeup;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import io.delayqueue.store.Texts;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.connection.Message;
import org.springframework.data.redis.connection.MessageListener;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.Subscription;
import org.springframework.data.redis.connection.SubscriptionListener;
import org.springframework.data.redis.listener.PatternTopic;
import org.springframework.data.redis.listener.Topic;

/**
 * Subscribes to any number of channels and patterns with a client that blocks a thread
 * while it is subscribed, as Jedis does. Uses one connection and one thread for all of
 * them, as more would exhaust the pool.
 * <p>
 * With such a client only the subscribed thread may subscribe and unsubscribe. It returns
 * the connection to its pool once it has read the last answer, when another thread that
 * sent a command may not have cleared the connection's buffer yet: the command would be
 * sent twice, and the next user of the connection would read the wrong answers. So there
 * is a control channel, which is subscribed first. Other threads record the topics that
 * they want and send a message there; then the subscribed thread applies the difference,
 * or ends. The {@link SubscriptionHeartbeat} also sends its request there.
 * <p>
 * A thread that waits on a silent connection cannot be ended, as the client does not
 * expose the connection. It is abandoned, with its connection of the pool, until the
 * operating system ends the connection, and another thread subscribes on another one. At
 * most two are abandoned; then the subscription counts as lost until something is
 * received.
 * <p>
 * <strong>Threads.</strong> One, {@code delayqueue-subscription}, subscribes, calls the
 * listeners and, after a failure, subscribes again. Any one thread at a time adds,
 * removes, closes and beats.
 */
final class BlockingSubscription implements TopicSubscription, SubscriptionHeartbeat.Line {

    private static final Logger logger = LoggerFactory.getLogger(BlockingSubscription.class);

    private static final Duration RETRY = Duration.ofMillis(500);

    /** After these, the change is applied at the next message or reconnect. */
    private static final int MOST_ATTEMPTS = 60;

    private static final int MOST_LEFT = 2;

    private final RedisConnectionFactory factory;

    private final String control;

    private final ScheduledExecutorService timer;

    private final Duration period;

    private final SubscriptionHeartbeat heartbeat = new SubscriptionHeartbeat(this);

    private final Map<Topic, MessageListener> wanted = new ConcurrentHashMap<>();

    private final CountDownLatch closed = new CountDownLatch(1);

    /** Number of abandoned links that still wait. */
    private final AtomicInteger left = new AtomicInteger();

    /** Whether nothing is received, although the link was not abandoned. */
    private volatile boolean deaf;

    private volatile boolean away;

    /** {@code null} before the first topic. */
    private volatile @Nullable Link link;

    private @Nullable Future<?> beats;

    /**
     * Prepares a subscription, which begins with the first topic.
     * @param control a channel of this subscription only
     * @param timer runs the heartbeat
     * @param period of the heartbeat
     */
    BlockingSubscription(RedisConnectionFactory factory, String control, ScheduledExecutorService timer,
            Duration period) {
        this.factory = factory;
        this.control = control;
        this.timer = timer;
        this.period = period;
    }

    @Override
    public void add(Topic topic, MessageListener listener) {
        this.wanted.put(topic, listener);
        if (this.link != null) {
            tell();
            return;
        }
        open();
        this.beats = this.timer.scheduleWithFixedDelay(this::beat, this.period.toMillis(), this.period.toMillis(),
                TimeUnit.MILLISECONDS);
    }

    private void open() {
        Link fresh = new Link();
        this.link = fresh;
        Thread thread = new Thread(fresh::run, "delayqueue-subscription");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void remove(Topic topic) {
        this.wanted.remove(topic);
        tell();
    }

    @Override
    public void close() {
        this.closed.countDown();
        if (this.beats != null) {
            this.beats.cancel(false);
        }
        if (this.link != null) {
            tell();
        }
    }

    /** Makes the subscribed thread apply the topics that are wanted. */
    private void tell() {
        tell(MOST_ATTEMPTS);
    }

    private void tell(int attempts) {
        Link current = this.link;
        if (!request() && attempts > 1 && current != null && !current.ended) {
            CompletableFuture.delayedExecutor(RETRY.toMillis(), TimeUnit.MILLISECONDS)
                .execute(() -> tell(attempts - 1));
        }
    }

    /**
     * Publishes to the control channel and waits for Redis. If Redis rejects that or is
     * away, missing messages prove nothing.
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
        if (this.deaf) {
            request();
        }
        else if (current != null && current.connection != null) {
            this.heartbeat.beat();
        }
    }

    @Override
    public void drop() {
        SubscriptionHeartbeat.warn();
        lost(); // before another link can subscribe
        Link old = this.link;
        if (this.left.get() < MOST_LEFT && old != null) {
            this.left.incrementAndGet();
            old.left = true;
            this.away = true;
            open();
        }
        else {
            this.deaf = true;
            logger.warn("{} connections of this client were left already, as they carry nothing and it cannot close "
                    + "them; this one is kept, and messages are found by the safety poll until it carries something",
                    MOST_LEFT);
        }
    }

    /** Reports all topics as unsubscribed. */
    private void lost() {
        this.wanted.forEach((topic, listener) -> {
            if (listener instanceof SubscriptionListener subscriptions) {
                subscriptions.onChannelUnsubscribed(bytes(topic.getTopic()), 0);
            }
        });
    }

    private void failed(RuntimeException failure) {
        if (!isClosed() && !this.away) {
            this.away = true;
            logger.warn("Cannot subscribe to {}; trying again every {}, meanwhile messages are found by the safety "
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

    /** Records a message; a late one shows that the connection is not lost after all. */
    private void received() {
        this.heartbeat.received();
        if (this.deaf) {
            this.deaf = false;
            this.wanted.forEach((topic, listener) -> {
                if (listener instanceof SubscriptionListener subscriptions) {
                    subscriptions.onChannelSubscribed(bytes(topic.getTopic()), 0);
                }
            });
        }
    }

    private boolean isClosed() {
        return this.closed.getCount() == 0;
    }

    private static Topic topic(byte[] channel, byte @Nullable [] pattern) {
        return (pattern != null && pattern.length > 0) ? Topic.pattern(text(pattern)) : Topic.channel(text(channel));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /** Runs the subscribed thread, on one connection after another. */
    private final class Link implements MessageListener, SubscriptionListener {

        /** Topics that this connection has subscribed to. */
        private final Set<Topic> subscribed = ConcurrentHashMap.newKeySet();

        /** Set while the connection is subscribed, or about to be. */
        private volatile @Nullable RedisConnection connection;

        /** Whether another link has replaced this one. */
        private volatile boolean left;

        private volatile boolean ended;

        private void run() {
            while (!isOver()) {
                this.subscribed.clear();
                try (RedisConnection fresh = BlockingSubscription.this.factory.getConnection()) {
                    byte[] control = bytes(BlockingSubscription.this.control);
                    // Needs the same right: after a rejected subscription, Jedis returns
                    // a connection to the pool with an answer still to come.
                    fresh.publish(control, new byte[0]);
                    this.connection = fresh;
                    fresh.subscribe(this, control);
                    pause();
                    while (!isOver() && fresh.isSubscribed()) {
                        pause(); // for a client that does not block
                    }
                }
                catch (RuntimeException ex) {
                    if (!this.left) {
                        failed(ex);
                    }
                }
                this.connection = null;
                if (!this.left) {
                    BlockingSubscription.this.deaf = false;
                    lost();
                    pause();
                }
            }
            this.ended = true;
            if (this.left) {
                BlockingSubscription.this.left.decrementAndGet();
            }
            logger.debug("The subscription has ended");
        }

        private boolean isOver() {
            return this.left || isClosed();
        }

        @Override
        public void onMessage(Message message, byte @Nullable [] pattern) {
            adjust();
            if (this.left) {
                return;
            }
            received();
            MessageListener listener = BlockingSubscription.this.wanted.get(topic(message.getChannel(), pattern));
            if (listener != null) {
                listener.onMessage(message, pattern);
            }
        }

        @Override
        public void onChannelSubscribed(byte[] channel, long count) {
            onSubscribed(Topic.channel(text(channel)), channel, count);
        }

        @Override
        public void onPatternSubscribed(byte[] pattern, long count) {
            onSubscribed(Topic.pattern(text(pattern)), pattern, count);
        }

        private void onSubscribed(Topic topic, byte[] name, long count) {
            adjust();
            if (this.left) {
                return;
            }
            received();
            MessageListener listener = BlockingSubscription.this.wanted.get(topic);
            if (listener != null && BlockingSubscription.this.away) {
                BlockingSubscription.this.away = false;
                logger.info("Subscribed to {} again", BlockingSubscription.this.wanted.keySet());
            }
            if (listener instanceof SubscriptionListener subscriptions) {
                subscriptions.onChannelSubscribed(name, count);
            }
        }

        /** Applies the topics that are wanted; called by the subscribed thread. */
        private void adjust() {
            RedisConnection ours = this.connection;
            Subscription subscription = (ours != null) ? ours.getSubscription() : null;
            if (subscription == null || !subscription.isAlive()) {
                return;
            }
            if (isOver()) {
                subscription.close();
                return;
            }
            Set<Topic> wanted = BlockingSubscription.this.wanted.keySet();
            List<Topic> more = wanted.stream().filter((topic) -> !this.subscribed.contains(topic)).toList();
            List<Topic> less = this.subscribed.stream().filter((topic) -> !wanted.contains(topic)).toList();
            this.subscribed.addAll(more);
            less.forEach(this.subscribed::remove);
            send(more, false, subscription::subscribe);
            send(more, true, subscription::pSubscribe);
            send(less, false, subscription::unsubscribe);
            send(less, true, subscription::pUnsubscribe);
        }

        private static void send(Collection<Topic> topics, boolean patterns, Consumer<byte[][]> command) {
            byte[][] names = topics.stream()
                .filter((topic) -> patterns == topic instanceof PatternTopic)
                .map((topic) -> bytes(topic.getTopic()))
                .toArray(byte[][]::new);
            if (names.length > 0) {
                command.accept(names);
            }
        }

    }

}
