package io.delayqueue.redis.wakeup;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.data.redis.connection.MessageListener;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.listener.RedisMessageListenerContainer;
import org.springframework.data.redis.listener.Topic;

/**
 * Subscribes by Spring Data's container, on one connection of Lettuce. After a lost
 * connection the client subscribes again. The container cannot recover if Redis is away
 * or rejects the subscription when a topic is added: then {@link #add} throws, and a new
 * subscription is needed.
 * <p>
 * <strong>Threads.</strong> One thread adds, removes and closes, and waits for Redis
 * there. Listeners are called by the client's threads.
 */
final class ContainerSubscription implements TopicSubscription {

    private static final Logger logger = LoggerFactory.getLogger(ContainerSubscription.class);

    private final RedisMessageListenerContainer container = new RedisMessageListenerContainer();

    private final Map<Topic, MessageListener> listeners = new HashMap<>();

    private final @Nullable SubscriptionMonitor watch;

    /**
     * Starts a container, which connects with the first topic.
     * @param observer receives lost connections
     * @param retry how long the container waits after a failure
     * @param limit longest time to wait for the first topic
     * @param period of the heartbeat
     */
    ContainerSubscription(LettuceConnectionFactory factory, SubscriptionMonitor.Observer observer, Duration retry,
            Duration limit, Duration period) {
        this.watch = SubscriptionMonitor.of(factory, observer, period);
        this.container.setConnectionFactory(factory);
        this.container.setTaskExecutor(Runnable::run);
        SimpleAsyncTaskExecutor subscriptions = new SimpleAsyncTaskExecutor("delayqueue-subscription-");
        subscriptions.setDaemon(true);
        this.container.setSubscriptionExecutor(subscriptions);
        this.container.setRecoveryInterval(retry.toMillis());
        this.container.setMaxSubscriptionRegistrationWaitingTime(limit.toMillis());
        this.container.afterPropertiesSet();
        this.container.start();
    }

    @Override
    public void add(Topic topic, MessageListener listener) {
        this.container.addMessageListener(listener, topic);
        this.listeners.put(topic, listener);
    }

    @Override
    public void remove(Topic topic) {
        MessageListener listener = this.listeners.remove(topic);
        try {
            if (listener != null) {
                this.container.removeMessageListener(listener, topic);
            }
        }
        catch (RuntimeException ex) {
            logger.debug("Cannot unsubscribe from '{}'", topic, ex);
        }
    }

    @Override
    public void close() {
        if (this.watch != null) {
            this.watch.close();
        }
        try {
            this.container.destroy();
        }
        catch (Exception ex) {
            logger.debug("Cannot end the subscription", ex);
        }
    }

}
