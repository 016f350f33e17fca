package io.delayqueue.autoconfigure;

import java.util.stream.Stream;

import io.delayqueue.QueueName;
import io.delayqueue.actuator.KnownStatistics;
import io.delayqueue.engine.ConsumedQueues;
import io.delayqueue.engine.EnvelopeCodec;
import io.delayqueue.engine.MessageEvents;
import io.delayqueue.engine.NodeDirectory;
import io.delayqueue.engine.QueueDirectory;
import io.delayqueue.engine.QueueInspector;
import io.delayqueue.engine.StorePorts;
import io.delayqueue.engine.UnconsumedQueues;
import io.delayqueue.listener.DelayedListenerAnnotationBeanPostProcessor;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.listener.HandlerMethodFactory;
import io.delayqueue.listener.NodeReporter;
import io.delayqueue.listener.TransferWorker;
import io.delayqueue.listener.WorkerSettings;

import io.delayqueue.observation.MessageObservations;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.LazyInitializationExcludeFilter;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.thread.Threading;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;
import org.springframework.core.task.TaskDecorator;
import org.springframework.validation.Validator;

/**
 * Auto-configuration for the handlers: finds methods with
 * {@link io.delayqueue.DelayedListener} and works for them. An application that has none
 * starts nothing.
 */
@AutoConfiguration(after = DelayQueueAutoConfiguration.class)
@ConditionalOnBooleanProperty(name = "delayqueue.enabled", matchIfMissing = true)
@EnableConfigurationProperties(DelayQueueMetricsProperties.class)
public final class DelayQueueListenerAutoConfiguration {

    DelayQueueListenerAutoConfiguration() {
    }

    @Bean
    @ConditionalOnMissingBean
    static DelayedListenerAnnotationBeanPostProcessor delayedListenerAnnotationBeanPostProcessor(
            ObjectProvider<DelayedListenerRegistry> registry, BeanFactory beans) {
        return new DelayedListenerAnnotationBeanPostProcessor(registry,
                (system) -> DelayQueueSystem.named(system, beans).listeners());
    }

    @Bean
    static LazyInitializationExcludeFilter delayedListenerLazyInitializationExcludeFilter() {
        return new DelayedListenerLazyInitializationExcludeFilter();
    }

    /**
     * Payloads are validated by Boot's validator, which is primary. Several without it,
     * as validators of single types are, leave none that is meant for any payload.
     */
    @Bean
    @ConditionalOnMissingBean
    HandlerMethodFactory delayQueueHandlerMethodFactory(EnvelopeCodec codec, ObjectProvider<Validator> validator,
            ObjectProvider<MessageObservations> observations) {
        return new HandlerMethodFactory(codec, validator.getIfUnique(), null,
                observations.getIfAvailable(() -> MessageObservations.NONE));
    }

    @Bean
    @ConditionalOnMissingBean
    DelayedListenerRegistry delayedListenerRegistry(DelayQueueProperties properties, HandlerMethodFactory handlers,
            ObjectProvider<MessageEvents> events) {
        return new DelayedListenerRegistry(properties::listenerSettings, handlers,
                DelayQueueAutoConfiguration.eventsOf(events));
    }

    /** For further queue systems. */
    @Bean
    @ConditionalOnMissingBean
    DelayQueueSystemBuilder delayQueueSystemBuilder(ListableBeanFactory beans, ApplicationEventPublisher events,
            Environment environment) {
        return new DelayQueueSystemBuilder(new SystemParts(beans, events, environment));
    }

    @Bean
    @ConditionalOnMissingBean
    ConsumedQueues delayQueueConsumedQueues(DelayQueueMetricsProperties properties) {
        return new ConsumedQueues(properties.maxQueues(), System::nanoTime);
    }

    /**
     * For gauges and health, which tell of the queues that this node listens to, or that
     * are consumed through it.
     */
    @Bean
    @ConditionalOnBean(QueueInspector.class)
    @ConditionalOnMissingBean
    KnownStatistics delayQueueKnownStatistics(QueueInspector inspector, StorePorts ports,
            DelayedListenerRegistry registry, ConsumedQueues consumed, DelayQueueMetricsProperties properties) {
        return new KnownStatistics(inspector, ports, () -> Stream
            .concat(registry.listeners().stream().flatMap((listener) -> listener.queues().stream()).map(QueueName::new),
                    consumed.all().stream())
            .toList(), properties.interval(), System::nanoTime);
    }

    @Bean
    @ConditionalOnMissingBean
    WorkerSettings delayQueueWorkerSettings(DelayQueueProperties properties, BeanFactory beans,
            ObjectProvider<TaskDecorator> decorators, Environment environment) {
        return properties.workerSettings(Threading.VIRTUAL.isActive(environment),
                HandlerExecutionChoice.among(beans, properties.listener().executor(), decorators));
    }

    @Bean
    @ConditionalOnMissingBean
    TransferWorker delayQueueTransferWorker(StorePorts ports, DelayedListenerRegistry registry,
            ApplicationEventPublisher events, NodeReporter reporter, WorkerSettings settings) {
        return new TransferWorker(ports, registry, events, settings, reporter);
    }

    @Bean
    @ConditionalOnMissingBean
    NodeReporter delayQueueNodeReporter(ObjectProvider<NodeDirectory> directory, DelayedListenerRegistry registry,
            Environment environment, ObjectProvider<UnconsumedQueues> unconsumed) {
        return new NodeReporter(directory.getIfAvailable(() -> NodeDirectory.NONE),
                NodeReporter.thisProcess(environment.getProperty("spring.application.name", "application")),
                registry::listeners, System::nanoTime, () -> unconsumed.ifAvailable(UnconsumedQueues::refresh));
    }

    @Bean
    @ConditionalOnBean({ QueueInspector.class, QueueDirectory.class, NodeDirectory.class })
    @ConditionalOnMissingBean
    UnconsumedQueues delayQueueUnconsumedQueues(StorePorts ports, QueueInspector inspector, QueueDirectory queues,
            NodeDirectory nodes, ConsumedQueues consumed) {
        return new UnconsumedQueues(ports, inspector, new UnconsumedQueues.Directories(queues, nodes), consumed,
                System::nanoTime);
    }

}
