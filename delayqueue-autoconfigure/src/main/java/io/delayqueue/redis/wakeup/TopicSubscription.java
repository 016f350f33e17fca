package io.delayqueue.redis.wakeup;

import org.springframework.data.redis.connection.MessageListener;
import org.springframework.data.redis.listener.Topic;

/**
 * Subscribes to any number of channels and patterns. Some implementations retry by
 * themselves until they are closed; one that cannot throws when a topic is added, and
 * must be closed and replaced.
 */
interface TopicSubscription extends AutoCloseable {

    /**
     * Subscribes to one more topic, soon.
     * @param listener receives messages; also subscriptions, and their ends with the
     * connection, if it is a {@code SubscriptionListener}
     * @throws RuntimeException if that failed and is not retried
     */
    void add(Topic topic, MessageListener listener);

    /** Unsubscribes from a topic, soon. */
    void remove(Topic topic);

    /**
     * Ends the subscription: soon, or, if Redis is away, when the connection ends. May
     * wait a short time for that.
     */
    @Override
    void close();

}
