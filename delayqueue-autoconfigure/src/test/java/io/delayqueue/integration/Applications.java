package io.delayqueue.integration;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;

import io.delayqueue.DelayQueueException;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.admin.DelayQueueIntegrityChecker;
import io.delayqueue.admin.Finding;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.testing.RedisServer;
import io.delayqueue.testing.RedisUser;
import io.lettuce.core.api.sync.RedisServerCommands;
import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.dao.DataAccessException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The applications of one test, all in one namespace; closed after it, the last first.
 * Threads: the test's own.
 */
final class Applications implements AfterEachCallback, AutoCloseable {

    static final Duration PATIENCE = Duration.ofSeconds(60);

    /** Long enough that nobody looks into a queue for no reason while a test runs. */
    static final String NO_SAFETY_POLL = "delayqueue.safety-poll=1h";

    private static final AtomicInteger COUNT = new AtomicInteger();

    private final String namespace;

    private final Deque<ConfigurableApplicationContext> running = new ArrayDeque<>();

    private final Set<String> queues = new TreeSet<>(List.of(OrderHandler.QUEUE));

    private boolean examined;

    Applications() {
        Class<?> test = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE).getCallerClass();
        this.namespace = test.getSimpleName() + "-" + COUNT.incrementAndGet();
    }

    /**
     * Has a doctor examine, before applications are closed, what they have stored: for
     * tests that damage nothing themselves.
     */
    Applications examined() {
        this.examined = true;
        return this;
    }

    String namespace() {
        return this.namespace;
    }

    /** Starts an application that handles orders. */
    Application withHandler(RedisServer redis, String... properties) {
        return start(HandlerConfiguration.class, at(redis.port(), properties));
    }

    /** Starts an application that only sends. */
    Application withoutHandler(RedisServer redis, String... properties) {
        return start(SenderConfiguration.class, at(redis.port(), properties));
    }

    static String[] at(int port, String... properties) {
        List<String> all = new ArrayList<>(
                List.of("spring.data.redis.host=127.0.0.1", "spring.data.redis.port=" + port));
        all.addAll(List.of(properties));
        return all.toArray(String[]::new);
    }

    /** Starts an application; its namespace can be overruled. */
    Application start(Class<?> configuration, String... properties) {
        ConfigurableApplicationContext context = new SpringApplicationBuilder(configuration)
            .web(WebApplicationType.NONE)
            .registerShutdownHook(false)
            .properties("spring.main.banner-mode=off", "spring.main.log-startup-info=false",
                    "delayqueue.namespace=" + this.namespace)
            .run(arguments(RedisUser.asAsked(properties)));
        this.running.push(context);
        context.getBeanProvider(DelayedListenerRegistry.class)
            .ifAvailable(
                    (registry) -> registry.listeners().forEach((listener) -> this.queues.addAll(listener.queues())));
        return new Application(context);
    }

    private static String[] arguments(String... properties) {
        return List.of(properties).stream().map((property) -> "--" + property).toArray(String[]::new);
    }

    /** All keys that messages of this test have: no settings, which outlive messages. */
    List<String> keys(RedisServer redis) {
        return redis.commands().keys(this.namespace + ":*").stream().filter((key) -> !isSetting(key)).toList();
    }

    /** Of what every test has; not of partitions and pauses, which few have. */
    static boolean isSetting(String key) {
        return key.endsWith(":keeper") || key.contains(":{_directory}:");
    }

    /** P10: waits for the last acknowledgement, after which nothing may be left. */
    void assertNoKeysLeft(RedisServer redis) {
        await(() -> assertThat(keys(redis)).isEmpty());
    }

    /** The clock that messages are due by. */
    static Instant timeOf(RedisServerCommands<String, String> commands) {
        List<String> time = commands.time();
        return Instant.ofEpochSecond(Long.parseLong(time.get(0)), Long.parseLong(time.get(1)) * 1000);
    }

    /** Until it holds; a store that cannot be reached yet is no reason to give up. */
    static void await(ThrowingRunnable assertion) {
        Awaitility.await()
            .atMost(PATIENCE)
            .pollInterval(Duration.ofMillis(10))
            .ignoreExceptionsInstanceOf(StoreUnavailableException.class)
            .untilAsserted(assertion);
    }

    static void awaitTrue(String what, Callable<Boolean> condition) {
        Awaitility.await(what).atMost(PATIENCE).pollInterval(Duration.ofMillis(10)).until(condition);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        close();
    }

    @Override
    public void close() {
        try {
            examine();
        }
        finally {
            while (!this.running.isEmpty()) {
                this.running.pop().close();
            }
        }
    }

    /** P1, P10: whatever a test did, nothing that is stored may be out of order. */
    private void examine() {
        List<Finding> findings = new ArrayList<>();
        try {
            this.running.stream()
                .filter((context) -> this.examined && context.isActive())
                .findFirst()
                .map((context) -> context.getBean(DelayQueueIntegrityChecker.class))
                .ifPresent((doctor) -> {
                    this.queues.forEach((queue) -> findings.addAll(doctor.examine(queue).findings()));
                    findings.addAll(doctor.examineKeys().findings());
                });
        }
        catch (DelayQueueException | DataAccessException ex) {
            // The test has left no Redis that could be asked.
        }
        assertThat(findings).as("findings in %s", this.namespace).isEmpty();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class SenderConfiguration {

    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class HandlerConfiguration {

        @Bean
        OrderHandler orderHandler() {
            return new OrderHandler();
        }

    }

}
