package io.delayqueue.autoconfigure;

import java.time.Duration;
import java.util.stream.LongStream;

import io.delayqueue.redis.RedisMessageStore;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.Delay;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.ClientResourcesBuilderCustomizer;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * P3: checks how long Lettuce may wait before it reconnects, and which setting decides.
 */
class ReconnectDelayCustomizerTests {

    private final ApplicationContextRunner application = new ApplicationContextRunner()
        .withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class, DelayQueueAutoConfiguration.class))
        .withPropertyValues("spring.data.redis.port=1", "delayqueue.command-timeout=100ms");

    @ParameterizedTest
    @ValueSource(strings = { "spring.data.redis.host=127.0.0.1",
            "spring.data.redis.sentinel.master=m,spring.data.redis.sentinel.nodes=127.0.0.1:1",
            "spring.data.redis.cluster.nodes=127.0.0.1:1" })
    void anOutageOfAnyLengthIsFollowedByAShortWait(String redis) {
        this.application.withPropertyValues(redis.split(",")).run((context) -> {
            ClientResources used = context.getBean(LettuceConnectionFactory.class)
                .getClientConfiguration()
                .getClientResources()
                .orElseThrow();
            assertThat(LongStream.of(1, 2, 5, 10, 100, 10_000, Integer.MAX_VALUE, Long.MAX_VALUE)
                .mapToObj(used.reconnectDelay()::createDelay))
                .allSatisfy((wait) -> assertThat(wait).isBetween(Duration.ofMillis(1), Duration.ofMillis(500)));
            assertThat(used.reconnectDelay().createDelay(100)).isGreaterThanOrEqualTo(Duration.ofMillis(250));
        });
    }

    @Test
    void nodesDoNotConnectInStep() {
        this.application.run((context) -> {
            Delay delay = context.getBean(ClientResources.class).reconnectDelay();
            assertThat(LongStream.range(0, 50).mapToObj((i) -> delay.createDelay(20)).distinct().count())
                .isGreaterThan(10);
        });
    }

    @Test
    void theLongestWaitIsConfigured() {
        this.application.withPropertyValues("delayqueue.max-reconnect-delay=20ms").run((context) -> {
            Delay delay = context.getBean(ClientResources.class).reconnectDelay();
            assertThat(LongStream.range(1, 50).mapToObj(delay::createDelay))
                .allSatisfy((wait) -> assertThat(wait).isLessThanOrEqualTo(Duration.ofMillis(20)));
        });
    }

    @Test
    void isDisabledByZero() {
        this.application.withPropertyValues("delayqueue.max-reconnect-delay=0")
            .run((context) -> assertThat(context.getBean(ClientResources.class).reconnectDelay().createDelay(100))
                .isEqualTo(Duration.ofSeconds(30)));
    }

    @ParameterizedTest
    @ValueSource(strings = { "delayqueue.enabled=false", "delayqueue.store=memory" })
    void doesNotChangeAClientThatTheQueueDoesNotUse(String property) {
        this.application.withPropertyValues(property)
            .run((context) -> assertThat(context.getBean(ClientResources.class).reconnectDelay().createDelay(100))
                .isEqualTo(Duration.ofSeconds(30)));
    }

    @Test
    void backsOffForACustomizerOfTheApplication() {
        this.application.withUserConfiguration(OwnCustomizer.class)
            .run((context) -> assertThat(context.getBean(ClientResources.class).reconnectDelay().createDelay(100))
                .isEqualTo(Duration.ofSeconds(7)));
    }

    @Test
    void backsOffForResourcesOfTheApplication() {
        this.application.withUserConfiguration(OwnResources.class)
            .run((context) -> assertThat(context.getBean(ClientResources.class).reconnectDelay().createDelay(100))
                .isEqualTo(Duration.ofSeconds(7)));
    }

    @Test
    void isAbsentWithoutLettuce() {
        this.application.withClassLoader(new FilteredClassLoader("io.lettuce"))
            .withPropertyValues("spring.data.redis.client-type=jedis")
            .run((context) -> assertThat(context).hasNotFailed()
                .hasSingleBean(RedisMessageStore.class)
                .doesNotHaveBean("delayQueueReconnectDelayCustomizer"));
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnCustomizer {

        @Bean
        @Order(Ordered.HIGHEST_PRECEDENCE + 1)
        ClientResourcesBuilderCustomizer own() {
            return (resources) -> resources.reconnectDelay(Delay.constant(Duration.ofSeconds(7)));
        }

    }

    @Configuration(proxyBeanMethods = false)
    static class OwnResources {

        @Bean(destroyMethod = "shutdown")
        ClientResources resources() {
            return DefaultClientResources.builder().reconnectDelay(Delay.constant(Duration.ofSeconds(7))).build();
        }

    }

}
