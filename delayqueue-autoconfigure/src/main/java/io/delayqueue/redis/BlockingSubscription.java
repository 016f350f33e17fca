package io.delayqueue.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

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
 * A subscription to one channel or pattern with a client that waits while it is
 * subscribed, as Jedis does: on a connection and a thread of its own.
 * <p>
 * With such a client nobody but the thread that waits may unsubscribe. It gives the
 * connection back to its pool as soon as it has read the answer, and a thread that sent
 * the command from outside may not have left the connection's buffer by then: it is sent
 * once more, and whoever has the connection next gets the answers of somebody else. So
 * this ends itself by a message to its own channel, at which the thread that waits
 * unsubscribes. Others who hear that message look once in vain.
 * <p>
 * <strong>Threads.</strong> One, {@code delayqueue-subscription}, subscribes, calls the
 * listener and, after a failure, subscribes again. Any thread closes.
 */
final class BlockingSubscription implements MessageListener, SubscriptionListener, AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(BlockingSubscription.class);

    private static final Duration RETRY = Duration.ofSeconds(1);

    private final RedisConnectionFactory factory;

    private final Topic topic;

    private final MessageListener listener;

    private final byte[] farewell = bytes(UUID.randomUUID().toString());

    private final CountDownLatch closed = new CountDownLatch(1);

    private boolean away;

    private @Nullable RedisConnection connection;

    /**
     * Prepares a subscription.
     * @param listener told of messages; and of subscriptions if it is a
     * {@code SubscriptionListener}
     */
    BlockingSubscription(RedisConnectionFactory factory, Topic topic, MessageListener listener) {
        this.factory = factory;
        this.topic = topic;
        this.listener = listener;
    }

    void start() {
        Thread thread = new Thread(this::run, "delayqueue-subscription");
        thread.setDaemon(true);
        thread.start();
    }

    private void run() {
        while (!isClosed()) {
            try (RedisConnection fresh = this.factory.getConnection()) {
                this.connection = fresh;
                if (this.topic instanceof PatternTopic) {
                    fresh.pSubscribe(this, bytes(this.topic.getTopic()));
                }
                else {
                    fresh.subscribe(this, bytes(this.topic.getTopic()));
                }
            }
            catch (RuntimeException ex) {
                failed(ex);
            }
            pause();
        }
    }

    private void failed(RuntimeException failure) {
        if (!isClosed() && !this.away) {
            this.away = true;
            logger.warn("Cannot subscribe to '{}'; trying again every {}, meanwhile messages are found by the safety "
                    + "poll: {}", this.topic.getTopic(), RETRY, failure.toString());
        }
    }

    private void pause() {
        try {
            if (this.closed.await(RETRY.toMillis(), TimeUnit.MILLISECONDS)) {
                logger.debug("The subscription to '{}' has ended", this.topic.getTopic());
            }
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void onMessage(Message message, byte @Nullable [] pattern) {
        if (!Arrays.equals(message.getBody(), this.farewell)) {
            this.listener.onMessage(message, pattern);
        }
        else if (isClosed()) {
            unsubscribe();
        }
    }

    @Override
    public void onChannelSubscribed(byte[] channel, long count) {
        onSubscribed(channel, count);
    }

    @Override
    public void onPatternSubscribed(byte[] pattern, long count) {
        onSubscribed(pattern, count);
    }

    private void onSubscribed(byte[] name, long count) {
        if (this.away) {
            this.away = false;
            logger.info("Subscribed to '{}' again", this.topic.getTopic());
        }
        if (isClosed()) {
            unsubscribe();
        }
        else if (this.listener instanceof SubscriptionListener subscriptions) {
            subscriptions.onChannelSubscribed(name, count);
        }
    }

    private void unsubscribe() {
        Subscription subscription = (this.connection != null) ? this.connection.getSubscription() : null;
        if (subscription != null) {
            subscription.close();
        }
    }

    private boolean isClosed() {
        return this.closed.getCount() == 0;
    }

    /** Ends the subscription soon; if Redis is away, when the connection ends. */
    @Override
    public void close() {
        this.closed.countDown();
        try (RedisConnection other = this.factory.getConnection()) {
            // What matches the pattern of keyspace notifications, with a star for itself.
            other.publish(bytes(this.topic.getTopic()), this.farewell);
        }
        catch (RuntimeException ex) {
            logger.debug("The subscription to '{}' ends with its connection", this.topic.getTopic(), ex);
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

}
