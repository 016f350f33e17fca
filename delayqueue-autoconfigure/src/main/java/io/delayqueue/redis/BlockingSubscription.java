package io.delayqueue.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

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
 * A subscription to any number of channels and patterns with a client that waits while it
 * is subscribed, as Jedis does: on one connection and one thread, however many they are,
 * or they would use up the pool.
 * <p>
 * With such a client nobody but the thread that waits may subscribe and unsubscribe. It
 * gives the connection back to its pool as soon as it has read the last answer, and a
 * thread that sent a command from outside may not have left the connection's buffer by
 * then: it is sent once more, and whoever has the connection next gets the answers of
 * somebody else. So there is a control channel, subscribed to before all else. Others
 * note what they want and send a message there, at which the thread that waits makes up
 * the difference, or ends.
 * <p>
 * <strong>Threads.</strong> One, {@code delayqueue-subscription}, subscribes, calls the
 * listeners and, after a failure, subscribes again. Any one thread at a time adds,
 * removes and closes.
 */
final class BlockingSubscription implements MessageListener, SubscriptionListener, TopicSubscription {

    private static final Logger logger = LoggerFactory.getLogger(BlockingSubscription.class);

    private static final Duration RETRY = Duration.ofMillis(500);

    /** Whom a message does not reach in this time looks at the next, or reconnects. */
    private static final int MOST_ATTEMPTS = 60;

    private final RedisConnectionFactory factory;

    private final String control;

    private final Map<Topic, MessageListener> wanted = new ConcurrentHashMap<>();

    /** What the present connection has been told to subscribe to. */
    private final Set<Topic> subscribed = ConcurrentHashMap.newKeySet();

    private final CountDownLatch closed = new CountDownLatch(1);

    private boolean started;

    private volatile boolean ended;

    private volatile boolean away;

    private volatile @Nullable RedisConnection connection;

    /**
     * Prepares a subscription, which begins with the first topic.
     * @param control a channel that nobody else uses
     */
    BlockingSubscription(RedisConnectionFactory factory, String control) {
        this.factory = factory;
        this.control = control;
    }

    @Override
    public void add(Topic topic, MessageListener listener) {
        this.wanted.put(topic, listener);
        if (this.started) {
            tell();
            return;
        }
        this.started = true;
        Thread thread = new Thread(this::run, "delayqueue-subscription");
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
        if (this.started) {
            tell();
        }
    }

    /** Makes the thread that waits look at what is wanted. */
    private void tell() {
        tell(MOST_ATTEMPTS);
    }

    private void tell(int attempts) {
        try (RedisConnection other = this.factory.getConnection()) {
            other.publish(bytes(this.control), new byte[0]);
        }
        catch (RuntimeException ex) {
            logger.debug("Cannot send to '{}'", this.control, ex);
            if (attempts > 1 && !this.ended) {
                CompletableFuture.delayedExecutor(RETRY.toMillis(), TimeUnit.MILLISECONDS)
                    .execute(() -> tell(attempts - 1));
            }
        }
    }

    private void run() {
        while (!isClosed()) {
            this.subscribed.clear();
            try (RedisConnection fresh = this.factory.getConnection()) {
                this.connection = fresh;
                // Needs the same right: once refused a subscription, Jedis gives back a
                // connection with an answer still to come.
                fresh.publish(bytes(this.control), new byte[0]);
                fresh.subscribe(this, bytes(this.control));
                pause();
                while (!isClosed() && fresh.isSubscribed()) {
                    pause(); // a client that does not wait
                }
            }
            catch (RuntimeException ex) {
                failed(ex);
            }
            lost();
            pause();
        }
        this.ended = true;
        logger.debug("The subscription has ended");
    }

    /** Tells of the end of all that was subscribed. */
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
                    + "poll: {}", this.wanted.keySet(), RETRY, failure.toString());
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

    @Override
    public void onMessage(Message message, byte @Nullable [] pattern) {
        adjust();
        MessageListener listener = this.wanted.get(topic(message.getChannel(), pattern));
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
        MessageListener listener = this.wanted.get(topic);
        if (listener != null && this.away) {
            this.away = false;
            logger.info("Subscribed to {} again", this.wanted.keySet());
        }
        if (listener instanceof SubscriptionListener subscriptions) {
            subscriptions.onChannelSubscribed(name, count);
        }
    }

    /** Makes what is subscribed what is wanted; called by the thread that waits. */
    private void adjust() {
        RedisConnection ours = this.connection;
        Subscription subscription = (ours != null) ? ours.getSubscription() : null;
        if (subscription == null || !subscription.isAlive()) {
            return;
        }
        if (isClosed()) {
            subscription.close();
            return;
        }
        List<Topic> more = this.wanted.keySet().stream().filter((topic) -> !this.subscribed.contains(topic)).toList();
        List<Topic> less = this.subscribed.stream().filter((topic) -> !this.wanted.containsKey(topic)).toList();
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

}
