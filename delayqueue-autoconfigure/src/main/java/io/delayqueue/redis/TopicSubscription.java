package io.delayqueue.redis;

import org.springframework.data.redis.connection.MessageListener;
import org.springframework.data.redis.listener.Topic;

/**
 * A subscription to any number of channels and patterns that is made without waiting for
 * Redis and survives its absence: it tries until it is closed.
 */
interface TopicSubscription extends AutoCloseable {

    /**
     * Subscribes to one more topic, soon.
     * @param listener told of messages; and of subscriptions, and of their ends with the
     * connection, if it is a {@code SubscriptionListener}
     */
    void add(Topic topic, MessageListener listener);

    /** Unsubscribes from a topic, soon. */
    void remove(Topic topic);

    /**
     * Ends the subscription: soon, or, if Redis is away, when the connection ends. May
     * wait for that, but not for long.
     */
    @Override
    void close();

}
