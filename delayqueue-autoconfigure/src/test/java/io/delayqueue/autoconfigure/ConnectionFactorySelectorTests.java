package io.delayqueue.autoconfigure;

import io.delayqueue.fixtures.application.StartupFailures;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.config.BeanDefinitionCustomizer;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.RedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/** Tests which connection factory is chosen. */
class ConnectionFactorySelectorTests {

    private final ApplicationContextRunner application = new ApplicationContextRunner()
        .withConfiguration(AutoConfigurations.of(DelayQueueAutoConfiguration.class));

    @Test
    void selectsTheOnlyFactory() {
        this.application.withBean("only", RedisConnectionFactory.class, ConnectionFactorySelectorTests::away)
            .run((context) -> assertThat(chosen(context)).isSameAs(context.getBean("only")));
    }

    @Test
    void selectsThePrimaryFactory() {
        both((bean) -> bean.setPrimary(true))
            .run((context) -> assertThat(chosen(context)).isSameAs(context.getBean("one")));
    }

    @Test
    void selectsTheNamedFactory() {
        both((bean) -> bean.setPrimary(true)).withPropertyValues("delayqueue.connection-factory=two")
            .run((context) -> assertThat(chosen(context)).isSameAs(context.getBean("two")));
    }

    @Test
    void doesNotCreateTheOthersIfOneIsNamed() {
        this.application.withBean("one", RedisConnectionFactory.class, () -> {
            throw new IllegalStateException("This factory must not be created");
        }, (bean) -> bean.setLazyInit(true))
            .withBean("two", RedisConnectionFactory.class, ConnectionFactorySelectorTests::away)
            .withPropertyValues("delayqueue.connection-factory=two")
            .run((context) -> assertThat(context).hasNotFailed());
    }

    @Test
    void selectsANamedFactoryOfTheParentContext() {
        new ApplicationContextRunner()
            .withBean("two", RedisConnectionFactory.class, ConnectionFactorySelectorTests::away)
            .run((parent) -> this.application.withParent(parent)
                .withPropertyValues("delayqueue.connection-factory=two")
                .run((context) -> assertThat(chosen(context)).isSameAs(parent.getBean("two"))));
    }

    @Test
    void rejectsSeveralFactoriesWithoutAPrimary() {
        both((bean) -> {
        }).run((context) -> {
            FailureAnalysis text = StartupFailures.of(context.getStartupFailure());
            assertThat(text.getDescription())
                .isEqualTo("There are several RedisConnectionFactory beans and none is primary.");
            assertThat(text.getAction())
                .isEqualTo("Set delayqueue.connection-factory to one of [one, two], or mark one of them as @Primary.");
        });
    }

    @Test
    void rejectsANameThatDoesNotExist() {
        both((bean) -> bean.setPrimary(true)).withPropertyValues("delayqueue.connection-factory=three")
            .run((context) -> {
                FailureAnalysis text = StartupFailures.of(context.getStartupFailure());
                assertThat(text.getDescription()).isEqualTo(
                        "delayqueue.connection-factory is 'three', but there is no RedisConnectionFactory bean of that name.");
                assertThat(text.getAction()).startsWith("Set delayqueue.connection-factory to one of [one, two]");
            });
    }

    @Test
    void rejectsTheNameOfABeanOfAnotherType() {
        both((bean) -> bean.setPrimary(true)).withBean("text", String.class, () -> "text")
            .withPropertyValues("delayqueue.connection-factory=text")
            .run((context) -> assertThat(StartupFailures.of(context.getStartupFailure()).getDescription()).isEqualTo(
                    "delayqueue.connection-factory is 'text', but there is no RedisConnectionFactory bean of that name."));
    }

    @Test
    void namesTheFixIfThereIsNone() {
        this.application.run((context) -> {
            FailureAnalysis text = StartupFailures.of(context.getStartupFailure());
            assertThat(text.getDescription()).isEqualTo("There is no RedisConnectionFactory bean.");
            assertThat(text.getAction()).isEqualTo("Add spring-boot-starter-data-redis or define a "
                    + "RedisConnectionFactory, or set delayqueue.store=memory to keep messages in this process, or "
                    + "delayqueue.enabled=false to do without the delay queue.");
        });
    }

    private ApplicationContextRunner both(BeanDefinitionCustomizer one) {
        return this.application.withBean("one", RedisConnectionFactory.class, ConnectionFactorySelectorTests::away, one)
            .withBean("two", RedisConnectionFactory.class, ConnectionFactorySelectorTests::away);
    }

    private static RedisConnectionFactory chosen(AssertableApplicationContext context) {
        return context.getBean(DelayQueueAutoConfiguration.REDIS_TEMPLATE, RedisTemplate.class)
            .getRequiredConnectionFactory();
    }

    private static RedisConnectionFactory away() {
        RedisConnectionFactory factory = mock();
        given(factory.getConnection()).willThrow(new RedisConnectionFailureException("away"));
        return factory;
    }

}
