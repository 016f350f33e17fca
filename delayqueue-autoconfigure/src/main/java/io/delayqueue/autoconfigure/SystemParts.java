package io.delayqueue.autoconfigure;

import io.delayqueue.engine.EnvelopeCodec;
import io.delayqueue.engine.MessageEvents;
import io.delayqueue.engine.PartitionRecords;
import io.delayqueue.engine.PartitionTable;
import io.delayqueue.listener.HandlerMethodFactory;
import io.delayqueue.listener.WorkerSettings;
import io.delayqueue.observation.MessageObservations;
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
 * Finds what a {@link DelayQueueSystem} is made of among the beans of the application.
 * They are looked up when a system is built, as most applications build none.
 */
final class SystemParts {

    private final ListableBeanFactory beans;

    private final ApplicationEventPublisher publisher;

    private final Environment environment;

    private final DelayQueueProperties properties;

    private final boolean ownProperties;

    SystemParts(ListableBeanFactory beans, ApplicationEventPublisher publisher, Environment environment) {
        this(beans, publisher, environment, null);
    }

    private SystemParts(ListableBeanFactory beans, ApplicationEventPublisher publisher, Environment environment,
            @Nullable DelayQueueProperties own) {
        this.beans = beans;
        this.publisher = publisher;
        this.environment = environment;
        this.properties = (own != null) ? own : beans.getBean(DelayQueueProperties.class);
        this.ownProperties = own != null;
    }

    /** The same parts with other settings. */
    SystemParts with(String prefix) {
        return new SystemParts(this.beans, this.publisher, this.environment,
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
            return ConnectionFactoryChoice.among(this.beans, this.properties.connectionFactory());
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

    MessageEvents events() {
        return DelayQueueAutoConfiguration.eventsOf(this.beans.getBeanProvider(MessageEvents.class));
    }

    ApplicationEventPublisher publisher() {
        return this.publisher;
    }

    WorkerSettings workerSettings() {
        return this.properties.workerSettings(Threading.VIRTUAL.isActive(this.environment), HandlerExecutionChoice
            .among(this.beans, this.properties.listener().executor(), this.beans.getBeanProvider(TaskDecorator.class)));
    }

    PartitionTable partitionTable(PartitionRecords records) {
        return new PartitionTable(records, this.properties::partitions, System::nanoTime);
    }

    String application() {
        return this.environment.getProperty("spring.application.name", "application");
    }

}
