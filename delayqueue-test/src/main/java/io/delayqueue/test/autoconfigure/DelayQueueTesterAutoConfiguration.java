package io.delayqueue.test.autoconfigure;

import java.time.Clock;
import java.time.ZoneOffset;

import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.autoconfigure.DelayQueueAutoConfiguration;
import io.delayqueue.autoconfigure.DelayQueueListenerAutoConfiguration;
import io.delayqueue.autoconfigure.DelayQueueProperties;
import io.delayqueue.listener.DelayedListenerLifecycle;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.listener.NodeHeartbeat;
import io.delayqueue.listener.poll.SharedListenerSettings;
import io.delayqueue.memory.InMemoryMessageStore;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.store.QueueInspector;
import io.delayqueue.store.QueueRegistry;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.routing.StoreComponents;
import io.delayqueue.template.DelayQueueTemplate;
import io.delayqueue.test.DelayQueueTester;
import io.delayqueue.test.TestNamespace;
import io.delayqueue.test.VirtualTimeRuntime;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.core.RedisTemplate;

/**
 * Auto-configuration of the {@link DelayQueueTester}, for tests with
 * {@link AutoConfigureDelayQueueTester}.
 */
@AutoConfiguration(before = { DelayQueueAutoConfiguration.class, DelayQueueListenerAutoConfiguration.class })
@EnableConfigurationProperties(DelayQueueTesterProperties.class)
public final class DelayQueueTesterAutoConfiguration {

    DelayQueueTesterAutoConfiguration() {
    }

    @Bean
    static JournalModeCheck delayQueueTesterJournalModeCheck(Environment environment) {
        return new JournalModeCheck(environment);
    }

    @Bean
    static VirtualTimePostProcessor delayQueueVirtualTimePostProcessor(ObjectProvider<VirtualTimeRuntime> runtime,
            ObjectProvider<DelayQueueTesterProperties> properties, ObjectProvider<QueueRegistry> queues) {
        return new VirtualTimePostProcessor(runtime, properties, queues);
    }

    @Bean
    VirtualTimeRuntime delayQueueVirtualTimeRuntime(DelayQueueTesterProperties properties) {
        return new VirtualTimeRuntime(properties.startAt(), properties.quietTimeout());
    }

    @Bean
    DelayedListenerLifecycle delayedListenerLifecycle(VirtualTimeRuntime runtime, StoreComponents components,
            DelayedListenerRegistry registry, ApplicationEventPublisher events, NodeHeartbeat heartbeat,
            SharedListenerSettings settings) {
        return new DelayedListenerLifecycle(runtime.listenerComponents(components), registry, events, settings,
                heartbeat);
    }

    @Bean
    VirtualTimeRuntime.Application delayQueueTestedApplication(DelayedListenerRegistry registry,
            DelayedListenerLifecycle listeners, DelayQueueTemplate operations, VirtualTimeRuntime.Reader reader,
            StoreComponents components) {
        return new VirtualTimeRuntime.Application(registry, listeners, operations, reader, components);
    }

    @Bean
    VirtualTimeRuntime.Reader delayQueueTestedQueues(QueueInspector partitions, DelayQueueInspector queues,
            EnvelopeCodec codec) {
        return new VirtualTimeRuntime.Reader(partitions, queues, codec);
    }

    @Bean
    DelayQueueTester delayQueueTester(VirtualTimeRuntime runtime, VirtualTimeRuntime.Application application,
            TestNamespace namespace) {
        return runtime.tester(application, namespace);
    }

    /** Configures the store in memory. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnProperty(name = DelayQueueTesterProperties.STORE, havingValue = "memory")
    static class MemoryConfiguration {

        @Bean
        InMemoryMessageStore delayQueueMessageStore(EnvelopeCodec codec, VirtualTimeRuntime runtime) {
            return new InMemoryMessageStore(codec, runtime.storeTime());
        }

        @Bean
        TestNamespace delayQueueTestNamespace(InMemoryMessageStore store) {
            return store::clear;
        }

    }

    /** Configures the store in Redis. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnProperty(name = DelayQueueTesterProperties.STORE, havingValue = "redis")
    static class RedisConfiguration {

        @Bean
        RedisScriptExecutor delayQueueRedisScriptExecutor(
                @Qualifier(DelayQueueAutoConfiguration.REDIS_TEMPLATE) RedisTemplate<String, byte[]> template,
                DelayQueueProperties properties, VirtualTimeRuntime runtime) {
            return new RedisScriptExecutor(runtime.scripts(
                    RedisScriptExecutor.runner(template.getRequiredConnectionFactory(), properties.commandTimeout())),
                    properties.namespace());
        }

        @Bean
        RedisTestNamespace delayQueueTestNamespace(
                @Qualifier(DelayQueueAutoConfiguration.REDIS_TEMPLATE) RedisTemplate<String, byte[]> template,
                DelayQueueProperties properties, DelayQueueTesterProperties tester, ApplicationContext context) {
            return new RedisTestNamespace(context, template.getRequiredConnectionFactory(), properties.namespace(),
                    tester.namespace() == null, properties.commandTimeout());
        }

    }

    /** Adds a clock if the application has none. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBooleanProperty("delayqueue.test.join-clock")
    static class ClockConfiguration {

        @Bean
        @ConditionalOnMissingBean
        Clock delayQueueTestClock(VirtualTimeRuntime runtime) {
            return runtime.clock(ZoneOffset.UTC);
        }

    }

}
