package io.delayqueue.autoconfigure;

import io.delayqueue.DelayQueueDoctor;
import io.delayqueue.DelayQueueInspector;
import io.delayqueue.engine.EnvelopeCodec;
import io.delayqueue.engine.MessageEvents;
import io.delayqueue.engine.MessageInspector;
import io.delayqueue.engine.MessageStore;
import io.delayqueue.engine.NodeDirectory;
import io.delayqueue.engine.PartitionRecords;
import io.delayqueue.engine.PartitionTable;
import io.delayqueue.engine.QueueDirectory;
import io.delayqueue.engine.QueueInspector;
import io.delayqueue.engine.QueueNotes;
import io.delayqueue.engine.SecretStore;
import io.delayqueue.engine.ServerWatch;
import io.delayqueue.engine.WakeUps;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.memory.InMemoryDoctor;
import io.delayqueue.memory.InMemoryMessageStore;
import io.delayqueue.memory.ProcessClock;
import io.delayqueue.redis.RedisAccess;
import io.delayqueue.redis.RedisDoctor;
import io.delayqueue.redis.RedisMessageInspector;
import io.delayqueue.redis.RedisMessageStore;
import io.delayqueue.redis.RedisNodeDirectory;
import io.delayqueue.redis.RedisPartitionRecords;
import io.delayqueue.redis.RedisQueueDirectory;
import io.delayqueue.redis.RedisQueueInspector;
import io.delayqueue.redis.RedisSecretStore;
import io.delayqueue.redis.RedisServerCheck;
import io.delayqueue.redis.RedisServerWatch;
import io.delayqueue.redis.RedisWakeUps;
import io.delayqueue.template.QueueInspection;
import io.delayqueue.engine.StorePorts;
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
import org.springframework.context.annotation.Proxyable;
import org.springframework.context.annotation.ProxyType;
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
    KnownQueues delayQueueKnownQueues(DelayQueueProperties properties,
            ObjectProvider<DelayedListenerRegistry> listeners, ApplicationContext context) {
        return new KnownQueues(properties, listeners::stream, context);
    }

    @Bean
    @ConditionalOnMissingBean
    StorePorts delayQueueStorePorts(MessageStore messages, MessageInspector inspector, WakeUps wakeUps,
            PartitionTable partitions, ObjectProvider<MessageEvents> events, ObjectProvider<QueueDirectory> directory) {
        return new StorePorts(messages, inspector, wakeUps, partitions, eventsOf(events),
                new QueueNotes(directory.getIfAvailable(() -> QueueDirectory.NONE), System::nanoTime));
    }

    @Bean
    @Proxyable(ProxyType.INTERFACES)
    @ConditionalOnBean(QueueInspector.class)
    @ConditionalOnMissingBean(DelayQueueInspector.class)
    QueueInspection delayQueueInspector(QueueInspector inspector, ObjectProvider<QueueDirectory> queues,
            ObjectProvider<NodeDirectory> nodes, PartitionTable partitions, DelayQueueProperties properties) {
        return new QueueInspection(inspector, queues.getIfAvailable(() -> QueueDirectory.NONE),
                nodes.getIfAvailable(() -> NodeDirectory.NONE), partitions, properties.answerLimit());
    }

    @Bean
    @ConditionalOnMissingBean
    PartitionTable delayQueuePartitionTable(PartitionRecords records, DelayQueueProperties properties) {
        return new PartitionTable(records, properties::partitions, System::nanoTime);
    }

    static MessageEvents eventsOf(ObjectProvider<MessageEvents> events) {
        return MessageEvents.composed(events.orderedStream().toList());
    }

    /** For a store of the application's own that keeps no records. */
    @Bean
    @ConditionalOnMissingBean({ PartitionRecords.class, RedisMessageStore.class, InMemoryMessageStore.class })
    PartitionRecords delayQueueNoPartitionRecords() {
        return PartitionRecords.NONE;
    }

    /**
     * Messages in Redis. The way to Redis is lazy: an application with a store, an
     * inspector and wake-ups of its own needs none.
     */
    @Configuration(proxyBeanMethods = false)
    @Conditional(OnRedis.class)
    static class RedisConfiguration {

        /**
         * Not a candidate where somebody asks for a template without naming it, so the
         * application's own injections stay as they are.
         */
        @Lazy
        @Bean(name = REDIS_TEMPLATE, defaultCandidate = false)
        @ConditionalOnMissingBean(name = REDIS_TEMPLATE)
        RedisTemplate<String, byte[]> delayQueueRedisTemplate(ListableBeanFactory beans,
                DelayQueueProperties properties) {
            return SystemStore.template(ConnectionFactoryChoice.among(beans, properties.connectionFactory()));
        }

        @Lazy
        @Bean
        @ConditionalOnMissingBean
        RedisAccess delayQueueRedisAccess(@Qualifier(REDIS_TEMPLATE) RedisTemplate<String, byte[]> template,
                DelayQueueProperties properties, ObjectProvider<MessageEvents> events) {
            return RedisAccess.to(template.getRequiredConnectionFactory(), properties.namespace(),
                    properties.commandTimeout(), properties.replicaWait(), eventsOf(events));
        }

        @Bean
        @Proxyable(ProxyType.INTERFACES)
        @ConditionalOnMissingBean(MessageStore.class)
        RedisMessageStore delayQueueMessageStore(RedisAccess redis) {
            return new RedisMessageStore(redis);
        }

        @Bean
        @ConditionalOnBean(RedisMessageStore.class)
        @ConditionalOnMissingBean(PartitionRecords.class)
        RedisPartitionRecords delayQueuePartitionRecords(RedisAccess redis) {
            return new RedisPartitionRecords(redis);
        }

        @Bean
        @Proxyable(ProxyType.INTERFACES)
        @ConditionalOnMissingBean(MessageInspector.class)
        RedisMessageInspector delayQueueMessageInspector(RedisAccess redis, EnvelopeCodec codec) {
            return new RedisMessageInspector(redis, codec);
        }

        @Bean
        @ConditionalOnBean(RedisMessageStore.class)
        @ConditionalOnMissingBean(QueueInspector.class)
        RedisQueueInspector delayQueueQueueInspector(RedisAccess redis) {
            return new RedisQueueInspector(redis);
        }

        @Bean
        @ConditionalOnBean(RedisMessageStore.class)
        @ConditionalOnMissingBean(QueueDirectory.class)
        RedisQueueDirectory delayQueueQueueDirectory(RedisAccess redis) {
            return new RedisQueueDirectory(redis);
        }

        @Bean
        @ConditionalOnBean(RedisMessageStore.class)
        @ConditionalOnMissingBean(NodeDirectory.class)
        RedisNodeDirectory delayQueueNodeDirectory(RedisAccess redis) {
            return new RedisNodeDirectory(redis);
        }

        @Bean
        @ConditionalOnBean(RedisMessageStore.class)
        @ConditionalOnMissingBean(SecretStore.class)
        RedisSecretStore delayQueueSecretStore(RedisAccess redis) {
            return new RedisSecretStore(redis);
        }

        @Bean
        @Proxyable(ProxyType.INTERFACES)
        @ConditionalOnBean(RedisMessageStore.class)
        @ConditionalOnMissingBean(DelayQueueDoctor.class)
        RedisDoctor delayQueueDoctor(@Qualifier(REDIS_TEMPLATE) RedisTemplate<String, byte[]> template,
                RedisAccess redis, EnvelopeCodec codec) {
            return new RedisDoctor(redis, template::getRequiredConnectionFactory, codec);
        }

        @Bean
        @Proxyable(ProxyType.INTERFACES)
        @ConditionalOnMissingBean(WakeUps.class)
        RedisWakeUps delayQueueWakeUps(@Qualifier(REDIS_TEMPLATE) RedisTemplate<String, byte[]> template,
                RedisAccess redis, DelayQueueProperties properties) {
            return new RedisWakeUps(template.getRequiredConnectionFactory(), redis, properties.wakeup());
        }

        @Bean
        @ConditionalOnBean(RedisMessageStore.class)
        @ConditionalOnMissingBean(ServerWatch.class)
        RedisServerWatch delayQueueServerWatch(@Qualifier(REDIS_TEMPLATE) RedisTemplate<String, byte[]> template,
                RedisAccess redis, DelayQueueProperties properties) {
            return new RedisServerWatch(redis, template, properties.wakeup());
        }

        @Bean
        @ConditionalOnBean(RedisMessageStore.class)
        ServerCheckLifecycle delayQueueServerCheck(@Qualifier(REDIS_TEMPLATE) RedisTemplate<String, byte[]> template,
                RedisAccess redis, DelayQueueProperties properties) {
            return new ServerCheckLifecycle(new RedisServerCheck(redis, template, properties.wakeup()),
                    properties.commandTimeout());
        }

    }

    /** Boot's own client, if that is Lettuce. */
    @Configuration(proxyBeanMethods = false)
    @Conditional(OnRedis.class)
    @ConditionalOnClass({ ClientResources.class, ClientResourcesBuilderCustomizer.class })
    static class LettuceConfiguration {

        @Bean
        ReconnectDelayCustomizer delayQueueReconnectDelayCustomizer(DelayQueueProperties properties) {
            return new ReconnectDelayCustomizer(properties.maxReconnectDelay());
        }

    }

    /** Messages in this process. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnProperty(name = "delayqueue.store", havingValue = "memory")
    static class MemoryConfiguration {

        private static final Logger logger = LoggerFactory.getLogger(MemoryConfiguration.class);

        @Bean
        @ConditionalOnMissingBean({ MessageStore.class, MessageInspector.class, WakeUps.class })
        InMemoryMessageStore delayQueueMessageStore(EnvelopeCodec codec) {
            logger.warn("Messages are kept in this process and are gone when it ends (delayqueue.store is 'memory')");
            return new InMemoryMessageStore(codec, new ProcessClock());
        }

        @Bean
        @ConditionalOnBean(InMemoryMessageStore.class)
        @ConditionalOnMissingBean(QueueInspector.class)
        QueueInspector delayQueueQueueInspector(InMemoryMessageStore store) {
            return store.queueInspector();
        }

        @Bean
        @ConditionalOnBean(InMemoryMessageStore.class)
        @ConditionalOnMissingBean(QueueDirectory.class)
        QueueDirectory delayQueueQueueDirectory(InMemoryMessageStore store) {
            return store.queueDirectory();
        }

        @Bean
        @ConditionalOnBean(InMemoryMessageStore.class)
        @ConditionalOnMissingBean(NodeDirectory.class)
        NodeDirectory delayQueueNodeDirectory(InMemoryMessageStore store) {
            return store.nodeDirectory();
        }

        @Bean
        @Proxyable(ProxyType.INTERFACES)
        @ConditionalOnBean(InMemoryMessageStore.class)
        @ConditionalOnMissingBean(DelayQueueDoctor.class)
        InMemoryDoctor delayQueueDoctor() {
            return new InMemoryDoctor();
        }

        @Bean
        @ConditionalOnBean(InMemoryMessageStore.class)
        @ConditionalOnMissingBean(PartitionRecords.class)
        PartitionRecords delayQueuePartitionRecords(InMemoryMessageStore store) {
            return store.partitionRecords();
        }

    }

    /**
     * Any store but memory, and so also a value that does not exist: the properties
     * refuse that one, with a better reason than that of a bean that is missing.
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
