package io.delayqueue.autoconfigure;

import io.delayqueue.listener.handler.HandlerMethodFactory;
import io.delayqueue.listener.poll.ListenerRuntimeSettings;
import io.delayqueue.observation.MessageObservations;
import io.delayqueue.store.MessageEventListener;
import io.delayqueue.store.PartitionLayoutStore;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.routing.PartitionLayoutCache;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.thread.Threading;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.core.env.Environment;
import org.springframework.core.task.TaskDecorator;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.RedisTemplate;

/**
 * Creates the listener infrastructure of a {@link DelayQueueSystem} from beans of the
 * application. The beans are resolved when a system is built, because most applications
 * build none.
 */
final class DelayQueueSystemListenersFactory {

    private final ListableBeanFactory beans;

    private final ApplicationEventPublisher publisher;

    private final Environment environment;

    private final DelayQueueProperties properties;

    private final boolean ownProperties;

    DelayQueueSystemListenersFactory(ListableBeanFactory beans, ApplicationEventPublisher publisher,
            Environment environment) {
        this(beans, publisher, environment, null);
    }

    private DelayQueueSystemListenersFactory(ListableBeanFactory beans, ApplicationEventPublisher publisher,
            Environment environment, @Nullable DelayQueueProperties own) {
        this.beans = beans;
        this.publisher = publisher;
        this.environment = environment;
        this.properties = (own != null) ? own : beans.getBean(DelayQueueProperties.class);
        this.ownProperties = own != null;
    }

    /** Returns a copy with other settings. */
    DelayQueueSystemListenersFactory with(String prefix) {
        return new DelayQueueSystemListenersFactory(this.beans, this.publisher, this.environment,
                Binder.get(this.environment).bindOrCreate(prefix, DelayQueueProperties.class));
    }

    DelayQueueProperties properties() {
        return this.properties;
    }

    boolean hasPropertiesOfItsOwn() {
        return this.ownProperties;
    }

    boolean isInMemory() {
        return this.properties.store() == DelayQueueProperties.StoreType.MEMORY
                || this.beans.getBean(DelayQueueProperties.class).store() == DelayQueueProperties.StoreType.MEMORY;
    }

    RedisConnectionFactory connections() {
        if (this.ownProperties && this.properties.connectionFactory() != null) {
            return ConnectionFactorySelector.among(this.beans, this.properties.connectionFactory());
        }
        return this.beans.getBean(DelayQueueAutoConfiguration.REDIS_TEMPLATE, RedisTemplate.class)
            .getRequiredConnectionFactory();
    }

    EnvelopeCodec codec() {
        return this.beans.getBean(EnvelopeCodec.class);
    }

    HandlerMethodFactory handlers() {
        return this.beans.getBean(HandlerMethodFactory.class);
    }

    MessageObservations observations() {
        return this.beans.getBeanProvider(MessageObservations.class).getIfAvailable(() -> MessageObservations.NONE);
    }

    MessageEventListener events() {
        return DelayQueueAutoConfiguration.eventsOf(this.beans.getBeanProvider(MessageEventListener.class));
    }

    ApplicationEventPublisher publisher() {
        return this.publisher;
    }

    ListenerRuntimeSettings workerSettings() {
        return this.properties.workerSettings(Threading.VIRTUAL.isActive(this.environment), HandlerExecutorResolver
            .among(this.beans, this.properties.listener().executor(), this.beans.getBeanProvider(TaskDecorator.class)));
    }

    PartitionLayoutCache partitionTable(PartitionLayoutStore records) {
        return new PartitionLayoutCache(records, this.properties::partitions, System::nanoTime);
    }

    String application() {
        return this.environment.getProperty("spring.application.name", "application");
    }

}
