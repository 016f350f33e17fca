package io.delayqueue.autoconfigure;

import java.util.stream.Stream;

import io.delayqueue.DelayedListenerErrorHandler;
import io.delayqueue.QueueName;
import io.delayqueue.actuator.StatisticsCache;
import io.delayqueue.intake.IntakeGroup;
import io.delayqueue.intake.IntakeStatusCache;
import io.delayqueue.listener.ActivityReporter;
import io.delayqueue.listener.BacklogCounter;
import io.delayqueue.listener.DelayedListenerAnnotationBeanPostProcessor;
import io.delayqueue.listener.DelayedListenerLifecycle;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.listener.NodeHeartbeat;
import io.delayqueue.listener.handler.HandlerMethodFactory;
import io.delayqueue.listener.handler.HandlerTransactions;
import io.delayqueue.listener.poll.SharedListenerSettings;
import io.delayqueue.observation.MessageObservations;
import io.delayqueue.store.ActivityStore;
import io.delayqueue.store.MessageEventRecorderFactory;
import io.delayqueue.store.NodeRegistry;
import io.delayqueue.store.QueueInspector;
import io.delayqueue.store.QueueRegistry;
import io.delayqueue.store.RemoteConsumerQueues;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.routing.PartitionLayouts;
import io.delayqueue.store.routing.StoreComponents;
import io.delayqueue.store.routing.UnconsumedQueueCheck;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.boot.LazyInitializationExcludeFilter;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.thread.Threading;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;
import org.springframework.core.task.TaskDecorator;
import org.springframework.validation.Validator;

/**
 * Auto-configuration for listeners: finds methods with
 * {@link io.delayqueue.DelayedListener} and runs containers for them. Starts nothing in
 * an application without such methods.
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
            ObjectProvider<DelayedListenerRegistry> registry, ObjectProvider<StoreComponents> components,
            BeanFactory beans) {
        return new DelayedListenerAnnotationBeanPostProcessor(registry,
                (system) -> DelayQueueSystem.named(system, beans).listeners(), (system) -> (system != null)
                        ? DelayQueueSystem.named(system, beans).schedules() : components.getObject().schedules());
    }

    @Bean
    static LazyInitializationExcludeFilter delayedListenerLazyInitializationExcludeFilter() {
        return new DelayedListenerLazyInitializationExcludeFilter();
    }

    /**
     * Validates payloads with Boot's validator, which is primary. With several validators
     * and no primary one, such as validators of single types, payloads are not validated.
     */
    @Bean
    @ConditionalOnMissingBean
    HandlerMethodFactory delayQueueHandlerMethodFactory(EnvelopeCodec codec, ObjectProvider<Validator> validator,
            ObjectProvider<MessageObservations> observations, ObjectProvider<HandlerTransactions> transactions,
            ConfigurableBeanFactory beans) {
        return new HandlerMethodFactory(codec, validator.getIfUnique(),
                observations.getIfAvailable(() -> MessageObservations.NONE), transactions.getIfUnique(), beans);
    }

    @Bean
    @ConditionalOnMissingBean
    DelayedListenerRegistry delayedListenerRegistry(DelayQueueProperties properties, HandlerMethodFactory handlers,
            ObjectProvider<MessageEventRecorderFactory> events,
            ObjectProvider<DelayedListenerErrorHandler> errorHandlers) {
        return new DelayedListenerRegistry(properties::listenerSettings, handlers,
                DelayQueueAutoConfiguration.eventsOf(events), errorHandlers::getIfUnique);
    }

    /** Builds further queue systems. */
    @Bean
    @ConditionalOnMissingBean
    DelayQueueSystemBuilder delayQueueSystemBuilder(ApplicationContext context) {
        return new DelayQueueSystemBuilder(context);
    }

    /** Its queues have counters from the first claim on, so that alerts notice events. */
    @Bean
    @ConditionalOnMissingBean
    RemoteConsumerQueues delayQueueRemoteConsumerQueues(DelayQueueMetricsProperties properties,
            ObjectProvider<MessageEventRecorderFactory> events) {
        RemoteConsumerQueues queues = new RemoteConsumerQueues(properties.maxQueues(), System::nanoTime);
        MessageEventRecorderFactory recorders = DelayQueueAutoConfiguration.eventsOf(events);
        queues.onFirst((queue) -> recorders.of(queue));
        return queues;
    }

    /**
     * For gauges and health, which cover the queues that this node listens to, or that
     * are consumed through it.
     */
    @Bean
    @ConditionalOnBean(QueueInspector.class)
    @ConditionalOnMissingBean
    StatisticsCache delayQueueStatisticsCache(QueueInspector inspector, StoreComponents components,
            DelayedListenerRegistry registry, RemoteConsumerQueues consumed, DelayQueueMetricsProperties properties) {
        return new StatisticsCache(inspector, components, () -> Stream
            .concat(registry.listeners().stream().flatMap((listener) -> listener.queues().stream()).map(QueueName::new),
                    consumed.all().stream())
            .toList(), properties.interval(), System::nanoTime);
    }

    @Bean
    @ConditionalOnMissingBean
    SharedListenerSettings delayQueueSharedListenerSettings(DelayQueueProperties properties, BeanFactory beans,
            ObjectProvider<TaskDecorator> decorators, Environment environment) {
        return properties.workerSettings(Threading.VIRTUAL.isActive(environment), HandlerExecutorResolver.among(beans,
                DelayQueueProperties.PREFIX, properties.listener().executor(), decorators));
    }

    @Bean
    @ConditionalOnMissingBean
    DelayedListenerLifecycle delayedListenerLifecycle(StoreComponents components, DelayedListenerRegistry registry,
            ApplicationEventPublisher events, NodeHeartbeat heartbeat, SharedListenerSettings settings) {
        return new DelayedListenerLifecycle(components, registry, events, settings, heartbeat);
    }

    @Bean
    @ConditionalOnMissingBean
    NodeHeartbeat delayQueueNodeHeartbeat(ObjectProvider<NodeRegistry> nodes, DelayedListenerRegistry registry,
            DelayQueueProperties properties, Environment environment, ObjectProvider<IntakeGroup> intakes,
            ObjectProvider<UnconsumedQueueCheck> unconsumed, ObjectProvider<ActivityReporter> activity) {
        return new NodeHeartbeat(nodes.getIfAvailable(() -> NodeRegistry.NONE),
                NodeHeartbeat.thisProcess(environment.getProperty("spring.application.name", "application")),
                registry::listeners, new IntakeStatusCache(intakes::stream), System::nanoTime,
                properties.listener().overdueAfter(), () -> {
                    unconsumed.ifAvailable(UnconsumedQueueCheck::refresh);
                    activity.ifAvailable(ActivityReporter::report);
                });
    }

    @Bean
    @ConditionalOnBean({ QueueInspector.class, ActivityStore.class })
    @ConditionalOnMissingBean
    ActivityReporter delayQueueActivityReporter(ActivityStore store, DelayedListenerRegistry registry,
            QueueInspector inspector, PartitionLayouts layouts) {
        return new ActivityReporter(store, registry::listeners,
                new BacklogCounter(inspector, layouts, System::nanoTime), System::nanoTime);
    }

    @Bean
    @ConditionalOnBean({ QueueInspector.class, QueueRegistry.class, NodeRegistry.class })
    @ConditionalOnMissingBean
    UnconsumedQueueCheck delayQueueUnconsumedQueueCheck(StoreComponents components, QueueInspector inspector,
            QueueRegistry queues, NodeRegistry nodes, RemoteConsumerQueues consumed) {
        return new UnconsumedQueueCheck(components, inspector, new UnconsumedQueueCheck.Directories(queues, nodes),
                consumed, System::nanoTime);
    }

}
