package io.delayqueue.autoconfigure;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.listener.DelayedListenerLifecycle;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.memory.InMemoryMessageStore;
import io.delayqueue.redis.RedisMessageInspector;
import io.delayqueue.redis.RedisMessageStore;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.redis.wakeup.RedisWakeUps;
import io.delayqueue.store.MessageInspector;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.WakeUps;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.template.DelayQueueTemplate;
import io.micrometer.observation.ObservationRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.TaskExecutor;
import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.RedisTemplate;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.listener.RedisMessageListenerContainer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.atLeastOnce;
import static org.mockito.Mockito.atMost;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.verifyNoInteractions;

/** Tests the default beans, and how they back off. */
class DelayQueueAutoConfigurationTests {

    private static final AutoConfigurations QUEUE = AutoConfigurations.of(DelayQueueAutoConfiguration.class,
            DelayQueueListenerAutoConfiguration.class);

    private final RedisConnectionFactory away = away();

    private final ApplicationContextRunner application = new ApplicationContextRunner().withConfiguration(QUEUE)
        .withBean(RedisConnectionFactory.class, () -> this.away);

    private static RedisConnectionFactory away() {
        RedisConnectionFactory factory = mock();
        given(factory.getConnection()).willThrow(new RedisConnectionFailureException("away"));
        return factory;
    }

    @Test
    void keepsMessagesInRedisByDefault() {
        this.application.run((context) -> assertThat(context).hasSingleBean(DelayQueueTemplate.class)
            .hasSingleBean(RedisMessageStore.class)
            .hasSingleBean(RedisMessageInspector.class)
            .hasSingleBean(RedisWakeUps.class)
            .hasSingleBean(EnvelopeCodec.class)
            .hasSingleBean(DelayedListenerRegistry.class)
            .hasSingleBean(DelayedListenerLifecycle.class)
            .doesNotHaveBean(InMemoryMessageStore.class));
    }

    @Test
    void checksTheServerAtStart() {
        this.application.run((context) -> {
            assertThat(context).hasSingleBean(ServerCheckLifecycle.class);
            verify(this.away, atLeastOnce()).getConnection();
            verify(this.away, atMost(2)).getConnection();
        });
    }

    @Test
    void isAbsentAndConnectsNowhereWhenDisabled() {
        ApplicationContextRunner disabled = this.application
            .withConfiguration(AutoConfigurations.of(DelayQueueAuditAutoConfiguration.class,
                    DelayQueueObservationAutoConfiguration.class))
            .withBean(ObservationRegistry.class, ObservationRegistry::create)
            .withPropertyValues("delayqueue.enabled=false", "delayqueue.observation.enabled=true");
        disabled.run((context) -> {
            assertThat(Stream.of(context.getBeanDefinitionNames()).map(context::getType))
                .noneMatch((type) -> type != null && type.getName().startsWith("io.delayqueue"));
            verifyNoInteractions(this.away);
        });
    }

    @Test
    void needsNoRedisWithTheStoreInMemory() {
        new ApplicationContextRunner().withConfiguration(QUEUE)
            .withPropertyValues("delayqueue.store=memory")
            .run((context) -> {
                assertThat(context).hasSingleBean(InMemoryMessageStore.class)
                    .doesNotHaveBean(RedisMessageStore.class)
                    .doesNotHaveBean(RedisScriptExecutor.class)
                    .doesNotHaveBean(RedisTemplate.class);
                DelayQueueOperations queue = context.getBean(DelayQueueOperations.class);
                queue.send("orders", "hello", Duration.ofHours(1));
                assertThat(queue.statistics("orders").scheduled()).isOne();
            });
    }

    @Test
    void connectsNowhereWithTheStoreInMemory() {
        this.application.withPropertyValues("delayqueue.store=memory")
            .run((context) -> verifyNoInteractions(this.away));
    }

    /** As a test would have, whose subject injects either of the two. */
    @Test
    void operationsOfTheApplicationArePreferredToTheTemplateAndKeepIt() {
        DelayQueueOperations own = mock();
        this.application.withBean("own", DelayQueueOperations.class, () -> own)
            .withBean(Sender.class)
            .run((context) -> {
                assertThat(context).hasNotFailed();
                assertThat(context.getBean(DelayQueueOperations.class)).isSameAs(own);
                Sender sender = context.getBean(Sender.class);
                assertThat(sender.byInterface()).isSameAs(own);
                assertThat(sender.byClass()).isSameAs(context.getBean("delayQueueTemplate"));
            });
    }

    @Test
    void theTemplateIsInjectedByItsInterfaceToo() {
        this.application.withBean(Sender.class).run((context) -> {
            Sender sender = context.getBean(Sender.class);
            assertThat(sender.byInterface()).isSameAs(sender.byClass());
        });
    }

    @Test
    void backsOffFromATemplateOfTheApplication() {
        DelayQueueTemplate own = mock();
        this.application.withBean("own", DelayQueueTemplate.class, () -> own).withBean(Sender.class).run((context) -> {
            assertThat(context).getBeanNames(DelayQueueOperations.class).containsExactly("own");
            assertThat(context.getBean(Sender.class)).isEqualTo(new Sender(own, own));
        });
    }

    @Test
    void backsOffFromAStoreOfTheApplication() {
        MessageStore own = mock();
        this.application.withBean(MessageStore.class, () -> own).run((context) -> {
            assertThat(context.getBean(MessageStore.class)).isSameAs(own);
            assertThat(context).hasSingleBean(RedisMessageInspector.class).hasSingleBean(RedisWakeUps.class);
        });
    }

    @Test
    void doesNotCheckTheServerWithACustomStore() {
        this.application.withBean(MessageStore.class, () -> mock()).run((context) -> {
            assertThat(context).doesNotHaveBean(ServerCheckLifecycle.class);
            verifyNoInteractions(this.away);
        });
    }

    @Test
    void needsNoRedisIfTheApplicationReplacesTheWholeStore() {
        new ApplicationContextRunner().withConfiguration(QUEUE)
            .withBean(MessageStore.class, () -> mock())
            .withBean(MessageInspector.class, () -> mock())
            .withBean(WakeUps.class, () -> mock())
            .run((context) -> assertThat(context).hasNotFailed());
    }

    @Test
    void backsOffFromAnInspectorOfTheApplication() {
        MessageInspector own = mock();
        this.application.withBean(MessageInspector.class, () -> own)
            .run((context) -> assertThat(context.getBean(MessageInspector.class)).isSameAs(own));
    }

    @Test
    void backsOffFromWakeUpsOfTheApplication() {
        WakeUps own = mock();
        this.application.withBean(WakeUps.class, () -> own)
            .run((context) -> assertThat(context.getBean(WakeUps.class)).isSameAs(own));
    }

    @Test
    void backsOffFromACodecOfTheApplication() {
        EnvelopeCodec own = new EnvelopeCodec(JsonMapper.builder().build());
        this.application.withBean(EnvelopeCodec.class, () -> own)
            .run((context) -> assertThat(context.getBean(EnvelopeCodec.class)).isSameAs(own));
    }

    @Test
    void usesTheConnectionsOfATemplateOfItsName() {
        RedisConnectionFactory other = away();
        this.application.withBean("other", RedisConnectionFactory.class, () -> other)
            .withUserConfiguration(OwnTemplate.class)
            .run((context) -> {
                assertThat(context).hasNotFailed();
                verify(other, atLeastOnce()).getConnection();
                verifyNoInteractions(this.away);
            });
    }

    @Test
    void writesWithTheMapperOfTheApplication() {
        new ApplicationContextRunner().withConfiguration(QUEUE)
            .withConfiguration(AutoConfigurations.of(JacksonAutoConfiguration.class))
            .withPropertyValues("delayqueue.store=memory", "spring.jackson.property-naming-strategy=SNAKE_CASE")
            .run((context) -> assertThat(stored(context.getBean(DelayQueueOperations.class)))
                .isEqualTo("{\"order_number\":42}"));
    }

    @Test
    void writesWithoutAMapperOfTheApplication() {
        new ApplicationContextRunner().withConfiguration(QUEUE)
            .withPropertyValues("delayqueue.store=memory")
            .run((context) -> assertThat(stored(context.getBean(DelayQueueOperations.class)))
                .isEqualTo("{\"orderNumber\":42}"));
    }

    private static String stored(DelayQueueOperations queue) {
        String id = queue.send("orders", new Order(42), Duration.ofHours(1)).id();
        return queue.find("orders", id).orElseThrow().payload();
    }

    @Test
    void leavesInjectionsOfTheApplicationUnambiguous() {
        this.application
            .withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class, JacksonAutoConfiguration.class,
                    TaskExecutionAutoConfiguration.class))
            .withUserConfiguration(Injections.class)
            .run((context) -> {
                assertThat(context).hasNotFailed().hasBean("applicationTaskExecutor");
                Injected injected = context.getBean(Injected.class);
                assertThat(injected.bytes()).isSameAs(context.getBean("myTemplate"));
                assertThat(injected.executor()).isSameAs(context.getBean("applicationTaskExecutor"));
            });
    }

    @Test
    void addsNoBeanOfAKindThatApplicationsAskFor() {
        this.application.run((context) -> assertThat(context).doesNotHaveBean(Executor.class)
            .doesNotHaveBean(RedisMessageListenerContainer.class)
            .doesNotHaveBean(JsonMapper.class)
            .doesNotHaveBean(LongSupplier.class)
            // Functional beans are bindings to Spring Cloud.
            .doesNotHaveBean(Consumer.class)
            .doesNotHaveBean(Function.class)
            .doesNotHaveBean(Supplier.class)
            .doesNotHaveBean(Predicate.class)
            .doesNotHaveBean(Runnable.class));
    }

    @ParameterizedTest
    @ValueSource(strings = { "spring.data.redis.port=1", "spring.data.redis.cluster.nodes=localhost:1",
            "spring.data.redis.sentinel.nodes=localhost:1|spring.data.redis.sentinel.master=queue" })
    void connectsThroughLettuceToAnyKindOfRedis(String properties) {
        startWith(properties).run((context) -> assertThat(context).hasNotFailed()
            .hasSingleBean(LettuceConnectionFactory.class)
            .hasSingleBean(RedisMessageStore.class));
    }

    @Test
    void connectsThroughJedis() {
        startWith("spring.data.redis.port=1|spring.data.redis.client-type=jedis")
            .run((context) -> assertThat(context).hasNotFailed()
                .hasSingleBean(JedisConnectionFactory.class)
                .hasSingleBean(RedisMessageStore.class));
    }

    /** Nothing listens at port 1, which an application survives. */
    private static ApplicationContextRunner startWith(String properties) {
        return new ApplicationContextRunner().withConfiguration(QUEUE)
            .withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
            .withPropertyValues("delayqueue.command-timeout=500ms")
            .withPropertyValues(properties.split("\\|"));
    }

    /** A payload. */
    record Order(int orderNumber) {
    }

    /** Injection points of the application by type. */
    record Injected(StringRedisTemplate texts, RedisTemplate<Object, Object> objects,
            RedisTemplate<String, byte[]> bytes, RedisMessageListenerContainer subscriptions, Executor executor,
            TaskExecutor taskExecutor, JsonMapper mapper, DelayQueueOperations queue) {
    }

    /** One that asks for each of the two types. */
    record Sender(DelayQueueOperations byInterface, DelayQueueTemplate byClass) {
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnTemplate {

        @Bean
        RedisTemplate<String, byte[]> delayQueueRedisTemplate(@Qualifier("other") RedisConnectionFactory other) {
            RedisTemplate<String, byte[]> template = new RedisTemplate<>();
            template.setConnectionFactory(other);
            return template;
        }

    }

    @Configuration(proxyBeanMethods = false)
    static class Injections {

        @Bean
        RedisTemplate<String, byte[]> myTemplate(RedisConnectionFactory factory) {
            RedisTemplate<String, byte[]> template = new RedisTemplate<>();
            template.setConnectionFactory(factory);
            return template;
        }

        @Bean
        Injected injected(StringRedisTemplate texts, RedisTemplate<Object, Object> objects,
                RedisTemplate<String, byte[]> bytes, RedisMessageListenerContainer subscriptions, Executor executor,
                TaskExecutor taskExecutor, JsonMapper mapper, DelayQueueOperations queue) {
            return new Injected(texts, objects, bytes, subscriptions, executor, taskExecutor, mapper, queue);
        }

    }

}
