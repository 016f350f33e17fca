package io.delayqueue.autoconfigure;

import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.admin.NodeOperations;
import io.delayqueue.admin.DelayQueueIntegrityChecker;
import io.delayqueue.journal.HistoryFactory;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.memory.InMemoryIntegrityChecker;
import io.delayqueue.memory.InMemoryMessageStore;
import io.delayqueue.memory.MicrosClock;
import io.delayqueue.redis.RedisMessageInspector;
import io.delayqueue.redis.RedisMessageStore;
import io.delayqueue.redis.RedisActivityStore;
import io.delayqueue.redis.RedisNodeRegistry;
import io.delayqueue.redis.RedisPartitionLayoutStore;
import io.delayqueue.redis.RedisQueueInspector;
import io.delayqueue.redis.RedisQueueRegistry;
import io.delayqueue.redis.RedisScheduleStore;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.redis.RedisSecretStore;
import io.delayqueue.redis.check.RedisIntegrityChecker;
import io.delayqueue.redis.check.RedisServerCheck;
import io.delayqueue.redis.check.RedisServerMonitor;
import io.delayqueue.redis.wakeup.RedisWakeUps;
import io.delayqueue.store.MessageEventRecorderFactory;
import io.delayqueue.store.MessageInspector;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.ActivityStore;
import io.delayqueue.store.NodeRegistry;
import io.delayqueue.store.PartitionLayoutStore;
import io.delayqueue.store.QueueInspector;
import io.delayqueue.store.QueueRegistry;
import io.delayqueue.store.SecretStore;
import io.delayqueue.store.ServerMonitor;
import io.delayqueue.store.WakeUps;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.routing.PartitionLayouts;
import io.delayqueue.store.routing.QueueRegistrar;
import io.delayqueue.store.routing.StoreComponents;
import io.delayqueue.store.schedule.LocalSchedules;
import io.delayqueue.store.schedule.ScheduleStore;
import io.delayqueue.template.InspectorTemplate;
import io.delayqueue.template.NodeOperationsTemplate;
import io.lettuce.core.resource.ClientResources;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.NoneNestedConditions;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.data.redis.autoconfigure.ClientResourcesBuilderCustomizer;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.ProxyType;
import org.springframework.context.annotation.Proxyable;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.RedisTemplate;

/**
 * Auto-configuration for the delay queue: the store, and the operations that send to it.
 * Handlers are configured by {@link DelayQueueListenerAutoConfiguration}.
 */
@AutoConfiguration(after = DataRedisAutoConfiguration.class)
@ConditionalOnBooleanProperty(name = "delayqueue.enabled", matchIfMissing = true)
@EnableConfigurationProperties(DelayQueueProperties.class)
@ImportRuntimeHints(DelayQueueRuntimeHints.class)
@Import({ DelayQueueTemplateConfiguration.OnlyOperations.class,
        DelayQueueTemplateConfiguration.BesideOtherOperations.class })
public final class DelayQueueAutoConfiguration {

    /** Name of the template for inspection and administration, and of its replacement. */
    public static final String REDIS_TEMPLATE = "delayQueueRedisTemplate";

    DelayQueueAutoConfiguration() {
    }

    @Bean
    @ConditionalOnMissingBean
    EnvelopeCodec delayQueueEnvelopeCodec(ObjectProvider<JsonMapper> mapper) {
        return new EnvelopeCodec(mapper.getIfAvailable(() -> JsonMapper.builder().build()));
    }

    @Bean
    UnknownQueueGuard delayQueueUnknownQueueGuard(DelayQueueProperties properties,
            ObjectProvider<DelayedListenerRegistry> listeners, ApplicationContext context) {
        return new UnknownQueueGuard(properties, listeners::stream, context);
    }

    @Bean
    @ConditionalOnMissingBean
    StoreComponents delayQueueStoreComponents(MessageStore messages, MessageInspector inspector, WakeUps wakeUps,
            PartitionLayouts partitions, ObjectProvider<MessageEventRecorderFactory> events,
            ObjectProvider<QueueRegistry> registry, ObjectProvider<HistoryFactory> histories, LocalSchedules schedules,
            DelayQueueProperties properties) {
        HistoryFactory history = histories.getIfAvailable();
        if (history == null && properties.hasHistory()) {
            throw MissingJournalException.ofHistory();
        }
        return new StoreComponents((history != null) ? history.recording(messages) : messages, inspector, wakeUps,
                partitions, eventsOf(events),
                new QueueRegistrar(registry.getIfAvailable(() -> QueueRegistry.NONE), System::nanoTime), schedules);
    }

    @Bean
    @ConditionalOnMissingBean
    LocalSchedules delayQueueLocalSchedules(ObjectProvider<ScheduleStore> store, EnvelopeCodec codec,
            DelayQueueProperties properties, Environment environment) {
        return properties.localSchedules(store.getIfAvailable(() -> ScheduleStore.NONE), codec,
                environment.getProperty("spring.application.name"));
    }

    @Bean
    @Proxyable(ProxyType.INTERFACES)
    @ConditionalOnBean(QueueInspector.class)
    @ConditionalOnMissingBean(DelayQueueInspector.class)
    InspectorTemplate delayQueueInspector(QueueInspector inspector, ObjectProvider<QueueRegistry> queues,
            ObjectProvider<NodeRegistry> nodes, ObjectProvider<ActivityStore> activity, PartitionLayouts partitions,
            LocalSchedules schedules, DelayQueueProperties properties) {
        return new InspectorTemplate(
                new InspectorTemplate.Stores(inspector, queues.getIfAvailable(() -> QueueRegistry.NONE),
                        nodes.getIfAvailable(() -> NodeRegistry.NONE),
                        activity.getIfAvailable(() -> ActivityStore.NONE), schedules.store()),
                partitions, properties.answerLimit());
    }

    @Bean
    @Proxyable(ProxyType.INTERFACES)
    @ConditionalOnBean(NodeRegistry.class)
    @ConditionalOnMissingBean(NodeOperations.class)
    NodeOperationsTemplate delayQueueNodeOperations(NodeRegistry nodes, DelayQueueProperties properties) {
        return new NodeOperationsTemplate(nodes, properties.answerLimit());
    }

    @Bean
    @ConditionalOnMissingBean
    PartitionLayouts delayQueuePartitionLayouts(PartitionLayoutStore layouts, DelayQueueProperties properties) {
        return new PartitionLayouts(layouts, properties::partitions, System::nanoTime);
    }

    static MessageEventRecorderFactory eventsOf(ObjectProvider<MessageEventRecorderFactory> events) {
        return MessageEventRecorderFactory.composed(events.orderedStream().toList());
    }

    /** Fallback for a custom store without support for partitions. */
    @Bean
    @ConditionalOnMissingBean({ PartitionLayoutStore.class, RedisMessageStore.class, InMemoryMessageStore.class })
    PartitionLayoutStore delayQueueNoPartitionLayoutStore() {
        return PartitionLayoutStore.NONE;
    }

    /**
     * Configures the store in Redis. The connection is lazy: an application with a custom
     * store, inspector and wake-ups needs no Redis.
     */
    @Configuration(proxyBeanMethods = false)
    @Conditional(OnRedis.class)
    static class RedisConfiguration {

        /**
         * Not a candidate for injection by type, so that the application's own injection
         * points are not affected.
         */
        @Lazy
        @Bean(name = REDIS_TEMPLATE, defaultCandidate = false)
        @ConditionalOnMissingBean(name = REDIS_TEMPLATE)
        RedisTemplate<String, byte[]> delayQueueRedisTemplate(ListableBeanFactory beans,
                DelayQueueProperties properties) {
            RedisConnectionFactory connections = ConnectionFactorySelector.among(beans, DelayQueueProperties.PREFIX,
                    properties.connectionFactory());
            return DelayQueueSystemStore.template(connections);
        }

        @Lazy
        @Bean
        @ConditionalOnMissingBean
        RedisScriptExecutor delayQueueRedisScriptExecutor(
                @Qualifier(REDIS_TEMPLATE) RedisTemplate<String, byte[]> template, DelayQueueProperties properties,
                ObjectProvider<MessageEventRecorderFactory> events) {
            return RedisScriptExecutor.to(template.getRequiredConnectionFactory(), properties.namespace(),
                    properties.commandTimeout(), properties.replicaWait(), eventsOf(events));
        }

        @Bean
        @Proxyable(ProxyType.INTERFACES)
        @ConditionalOnMissingBean(MessageStore.class)
        RedisMessageStore delayQueueMessageStore(RedisScriptExecutor redis) {
            return new RedisMessageStore(redis);
        }

        @Bean
        @ConditionalOnBean(RedisMessageStore.class)
        @ConditionalOnMissingBean(PartitionLayoutStore.class)
        RedisPartitionLayoutStore delayQueuePartitionLayoutStore(RedisScriptExecutor redis) {
            return new RedisPartitionLayoutStore(redis);
        }

        @Bean
        @Proxyable(ProxyType.INTERFACES)
        @ConditionalOnMissingBean(MessageInspector.class)
        RedisMessageInspector delayQueueMessageInspector(RedisScriptExecutor redis, EnvelopeCodec codec) {
            return new RedisMessageInspector(redis, codec);
        }

        @Bean
        @ConditionalOnBean(RedisMessageStore.class)
        @ConditionalOnMissingBean(QueueInspector.class)
        RedisQueueInspector delayQueueQueueInspector(RedisScriptExecutor redis) {
            return new RedisQueueInspector(redis);
        }

        @Bean
        @ConditionalOnBean(RedisMessageStore.class)
        @ConditionalOnMissingBean(QueueRegistry.class)
        RedisQueueRegistry delayQueueQueueRegistry(RedisScriptExecutor redis) {
            return new RedisQueueRegistry(redis);
        }

        @Bean
        @ConditionalOnBean(RedisMessageStore.class)
        @ConditionalOnMissingBean(ScheduleStore.class)
        RedisScheduleStore delayQueueScheduleStore(RedisScriptExecutor redis) {
            return new RedisScheduleStore(redis);
        }

        @Bean
        @ConditionalOnBean(RedisMessageStore.class)
        @ConditionalOnMissingBean(NodeRegistry.class)
        RedisNodeRegistry delayQueueNodeRegistry(RedisScriptExecutor redis) {
            return new RedisNodeRegistry(redis);
        }

        @Bean
        @ConditionalOnBean(RedisMessageStore.class)
        @ConditionalOnMissingBean(ActivityStore.class)
        RedisActivityStore delayQueueActivityStore(RedisScriptExecutor redis) {
            return new RedisActivityStore(redis);
        }

        @Bean
        @ConditionalOnBean(RedisMessageStore.class)
        @ConditionalOnMissingBean(SecretStore.class)
        RedisSecretStore delayQueueSecretStore(RedisScriptExecutor redis) {
            return new RedisSecretStore(redis);
        }

        @Bean
        @Proxyable(ProxyType.INTERFACES)
        @ConditionalOnBean(RedisMessageStore.class)
        @ConditionalOnMissingBean(DelayQueueIntegrityChecker.class)
        RedisIntegrityChecker delayQueueIntegrityChecker(
                @Qualifier(REDIS_TEMPLATE) RedisTemplate<String, byte[]> template, RedisScriptExecutor redis,
                EnvelopeCodec codec) {
            return new RedisIntegrityChecker(redis, template::getRequiredConnectionFactory, codec);
        }

        @Bean
        @Proxyable(ProxyType.INTERFACES)
        @ConditionalOnMissingBean(WakeUps.class)
        RedisWakeUps delayQueueWakeUps(@Qualifier(REDIS_TEMPLATE) RedisTemplate<String, byte[]> template,
                RedisScriptExecutor redis, DelayQueueProperties properties) {
            return new RedisWakeUps(template.getRequiredConnectionFactory(), redis, properties.wakeup());
        }

        @Bean
        @ConditionalOnBean(RedisMessageStore.class)
        @ConditionalOnMissingBean(ServerMonitor.class)
        RedisServerMonitor delayQueueServerMonitor(@Qualifier(REDIS_TEMPLATE) RedisTemplate<String, byte[]> template,
                RedisScriptExecutor redis, DelayQueueProperties properties) {
            return new RedisServerMonitor(redis, template, properties.wakeup());
        }

        @Bean
        @ConditionalOnBean(RedisMessageStore.class)
        ServerCheckLifecycle delayQueueServerCheck(@Qualifier(REDIS_TEMPLATE) RedisTemplate<String, byte[]> template,
                RedisScriptExecutor redis, DelayQueueProperties properties) {
            return new ServerCheckLifecycle(new RedisServerCheck(redis, template, properties.wakeup()),
                    properties.commandTimeout());
        }

    }

    /** Customizes Boot's client, if that is Lettuce. */
    @Configuration(proxyBeanMethods = false)
    @Conditional(OnRedis.class)
    @ConditionalOnClass({ ClientResources.class, ClientResourcesBuilderCustomizer.class })
    static class LettuceConfiguration {

        @Bean
        ReconnectDelayCustomizer delayQueueReconnectDelayCustomizer(DelayQueueProperties properties) {
            return new ReconnectDelayCustomizer(properties.maxReconnectDelay());
        }

    }

    /** Configures the store in memory. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnProperty(name = "delayqueue.store", havingValue = "memory")
    static class MemoryConfiguration {

        private static final Logger logger = LoggerFactory.getLogger(MemoryConfiguration.class);

        @Bean
        @ConditionalOnMissingBean({ MessageStore.class, MessageInspector.class, WakeUps.class })
        InMemoryMessageStore delayQueueMessageStore(EnvelopeCodec codec) {
            logger.warn("Messages are kept in this process and are gone when it ends (delayqueue.store is 'memory')");
            return new InMemoryMessageStore(codec, new MicrosClock());
        }

        @Bean
        @ConditionalOnBean(InMemoryMessageStore.class)
        @ConditionalOnMissingBean(QueueInspector.class)
        QueueInspector delayQueueQueueInspector(InMemoryMessageStore store) {
            return store.queueInspector();
        }

        @Bean
        @ConditionalOnBean(InMemoryMessageStore.class)
        @ConditionalOnMissingBean(QueueRegistry.class)
        QueueRegistry delayQueueQueueRegistry(InMemoryMessageStore store) {
            return store.queueRegistry();
        }

        @Bean
        @ConditionalOnBean(InMemoryMessageStore.class)
        @ConditionalOnMissingBean(ScheduleStore.class)
        ScheduleStore delayQueueScheduleStore(InMemoryMessageStore store) {
            return store.schedules();
        }

        @Bean
        @ConditionalOnBean(InMemoryMessageStore.class)
        @ConditionalOnMissingBean(NodeRegistry.class)
        NodeRegistry delayQueueNodeRegistry(InMemoryMessageStore store) {
            return store.nodeRegistry();
        }

        @Bean
        @ConditionalOnBean(InMemoryMessageStore.class)
        @ConditionalOnMissingBean(ActivityStore.class)
        ActivityStore delayQueueActivityStore(InMemoryMessageStore store) {
            return store.activityStore();
        }

        @Bean
        @Proxyable(ProxyType.INTERFACES)
        @ConditionalOnBean(InMemoryMessageStore.class)
        @ConditionalOnMissingBean(DelayQueueIntegrityChecker.class)
        InMemoryIntegrityChecker delayQueueIntegrityChecker() {
            return new InMemoryIntegrityChecker();
        }

        @Bean
        @ConditionalOnBean(InMemoryMessageStore.class)
        @ConditionalOnMissingBean(PartitionLayoutStore.class)
        PartitionLayoutStore delayQueuePartitionLayoutStore(InMemoryMessageStore store) {
            return store.partitionRecords();
        }

    }

    /**
     * Matches any store except memory, including an invalid value: the properties reject
     * that one with a clearer message than that of a missing bean.
     */
    static class OnRedis extends NoneNestedConditions {

        OnRedis() {
            super(ConfigurationPhase.PARSE_CONFIGURATION);
        }

        @ConditionalOnProperty(name = "delayqueue.store", havingValue = "memory")
        static class Memory {

        }

    }

}
