package io.delayqueue.web.autoconfigure;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import io.delayqueue.DelayedListener;
import io.delayqueue.actuator.DelayQueueEndpoint;
import io.delayqueue.actuator.DelayQueueHealthIndicator;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.admin.DelayQueueIntegrityChecker;
import io.delayqueue.autoconfigure.DelayQueueSystem;
import io.delayqueue.autoconfigure.DelayQueueSystemBuilder;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.RedisUser;
import io.delayqueue.listener.DelayedListenerLifecycle;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.store.MessageEventRecorderFactory;
import io.delayqueue.store.MessageInspector;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.WakeUps;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.template.DelayQueueTemplate;
import io.delayqueue.web.http.AccessControl;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks that every type that applications inject or replace can be proxied by class, as
 * Boot does by default for beans that an aspect matches.
 */
@Tag("server")
class ClassProxyTests {

    private static final Duration LIMIT = Duration.ofSeconds(30);

    /**
     * The types that applications inject, replace or expose; see docs/configuration.md.
     */
    private static final List<Class<?>> OPEN = List.of(DelayQueueTemplate.class, DelayQueueInspector.class,
            DelayQueueIntegrityChecker.class, DelayedListenerRegistry.class, DelayedListenerLifecycle.class,
            EnvelopeCodec.class, MessageStore.class, MessageInspector.class, WakeUps.class,
            MessageEventRecorderFactory.class, AccessControl.class, DelayQueueEndpoint.class,
            DelayQueueHealthIndicator.class, DelayQueueSystemBuilder.class, DelayQueueSystem.class);

    private final RedisServer redis = RedisServer.shared(RedisBinary.REDIS_7_0);

    @AfterEach
    void clean() {
        List<String> keys = this.redis.commands().keys("proxied:*");
        if (!keys.isEmpty()) {
            this.redis.commands().del(keys.toArray(String[]::new));
        }
    }

    @Test
    void anApplicationWithAspectsOnOurBeansStartsAndSends() throws Exception {
        try (ConfigurableApplicationContext context = start("spring.data.redis.port=" + this.redis.port())) {
            assertSendsAndHandles(context);
        }
    }

    @Test
    void anApplicationWithAspectsAndTheInMemoryStoreStartsAndSends() throws Exception {
        try (ConfigurableApplicationContext context = start("delayqueue.store=memory")) {
            assertSendsAndHandles(context);
        }
    }

    private static void assertSendsAndHandles(ConfigurableApplicationContext context) throws Exception {
        for (Class<?> type : OPEN) {
            assertThat(AopUtils.isAopProxy(context.getBean(type))).as(type.getName()).isTrue();
        }
        context.getBean(DelayQueueTemplate.class).send("orders", "hello", Duration.ofMillis(100));

        assertThat(context.getBean(Handler.class).seen.poll(LIMIT.toSeconds(), TimeUnit.SECONDS)).isEqualTo("hello");
        context.getBean(DelayQueueSystem.class).template().send("orders", "second");
        assertThat(context.getBean(Handler.class).seen.poll(LIMIT.toSeconds(), TimeUnit.SECONDS)).isEqualTo("second");
        assertThat(context.getBean(DelayQueueInspector.class).queues(null, 10).queues()).contains("orders");
        assertThat(context.getBean(DelayedListenerRegistry.class).require("handler.on").isRunning()).isTrue();
        assertThat(context.getBean(DelayedListenerLifecycle.class).isRunning()).isTrue();
        assertThat(context.getBean(Calls.class).names).contains("DelayQueueTemplate.send");
    }

    /** A method that is final would be called on the proxy, which has no fields. */
    @Test
    void typesProxiedByClassHaveNoFinalMethods() {
        assertThat(OPEN).filteredOn((type) -> !type.isInterface())
            .flatMap((type) -> Arrays.asList(type.getDeclaredMethods()))
            .filteredOn((method) -> !method.isSynthetic() && !Modifier.isStatic(method.getModifiers())
                    && !Modifier.isPrivate(method.getModifiers()))
            .noneMatch((method) -> Modifier.isFinal(method.getModifiers()));
    }

    private static ConfigurableApplicationContext start(String store) {
        return new SpringApplicationBuilder(Application.class).web(WebApplicationType.SERVLET)
            .registerShutdownHook(false)
            .properties("server.port=0", "server.address=127.0.0.1", "spring.main.banner-mode=off",
                    "spring.main.log-startup-info=false", "delayqueue.namespace=proxied",
                    "delayqueue.web.api.enabled=true", "delayqueue.web.dashboard.enabled=true",
                    "management.endpoints.access.default=unrestricted", "management.endpoints.web.exposure.include=*")
            .run(Arrays.stream(RedisUser.asAsked(store)).map("--"::concat).toArray(String[]::new));
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        Handler handler() {
            return new Handler();
        }

        @Bean
        DelayQueueSystem second(DelayQueueSystemBuilder builder) {
            return builder.namespace("proxied:second").build();
        }

        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static Calls calls() {
            return new Calls();
        }

        /** One that Boot's own auto-proxy creator applies. */
        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static DefaultPointcutAdvisor aroundBeansOfTheQueue(Calls calls) {
            return new DefaultPointcutAdvisor(new StaticMethodMatcherPointcut() {

                @Override
                public boolean matches(Method method, Class<?> type) {
                    return OPEN.stream().anyMatch((open) -> open.isAssignableFrom(type));
                }

            }, calls);
        }

    }

    static class Calls implements MethodInterceptor {

        final Set<String> names = ConcurrentHashMap.newKeySet();

        @Override
        public @Nullable Object invoke(MethodInvocation call) throws Throwable {
            this.names.add(call.getMethod().getDeclaringClass().getSimpleName() + "." + call.getMethod().getName());
            return call.proceed();
        }

    }

    static class Handler {

        final BlockingQueue<String> seen = new LinkedBlockingQueue<>();

        @DelayedListener("orders")
        @DelayedListener(queues = "orders", system = "second", id = "second")
        void on(String payload) {
            this.seen.add(payload);
        }

    }

}
