package io.delayqueue.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedListener;
import io.delayqueue.SendOutcome;
import io.delayqueue.UnknownQueueException;
import io.delayqueue.admin.QueueOverview;
import io.delayqueue.fixtures.application.ResourceLeaks;
import io.delayqueue.fixtures.application.StartupFailures;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.RedisUser;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.listener.ListenerContainer;
import io.delayqueue.template.DelayQueueTemplate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Checks a second queue system in one application: on another Redis, or in another
 * namespace.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("server")
class DelayQueueSystemTests {

    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final RedisServer redis = RedisServer.shared(RedisBinary.REDIS_7_0);

    private final ResourceLeaks leaks = new ResourceLeaks();

    private final ApplicationContextRunner application = new ApplicationContextRunner()
        .withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class, DelayQueueAutoConfiguration.class,
                DelayQueueListenerAutoConfiguration.class, DelayQueueStartChecksAutoConfiguration.class))
        .withPropertyValues(
                RedisUser.asAsked("spring.data.redis.port=" + this.redis.port(), "delayqueue.namespace=systems-first"));

    @AfterEach
    void clean() {
        List<String> keys = this.redis.commands().keys("systems-*");
        if (!keys.isEmpty()) {
            this.redis.commands().del(keys.toArray(String[]::new));
        }
    }

    /** Both have a queue of the same name. */
    @Test
    void sendsToTwoServersAndListensToBoth() {
        try (RedisServer other = RedisServer.start(RedisBinary.REDIS_7_0)) {
            twoServers(other).run((context) -> {
                context.getBean(DelayQueueTemplate.class).send("orders", "order-1", "an order", Duration.ofMillis(50));
                context.getBean("billingTemplate", DelayQueueTemplate.class)
                    .send("orders", "order-1", "an invoice", Duration.ofMillis(50));

                Handlers handlers = context.getBean(Handlers.class);
                assertThat(List.of(next(handlers), next(handlers))).containsExactlyInAnyOrder("first: an order",
                        "billing: an invoice");
                assertThat(this.redis.commands().keys("systems-*")).allMatch((key) -> key.startsWith("systems-first:"));
                assertThat(other.commands().keys("*")).isNotEmpty()
                    .allMatch((key) -> key.startsWith("systems-billing:"));
            });
        }
    }

    @Test
    void theApplicationsOwnQueuesAreInjectedUnlessTheOthersAreNamed() {
        try (RedisServer other = RedisServer.start(RedisBinary.REDIS_7_0)) {
            twoServers(other).withBean(Injected.class).run((context) -> {
                Injected injected = context.getBean(Injected.class);
                assertThat(injected.template()).isSameAs(context.getBean("delayQueueTemplate"));
                assertThat(injected.operations()).isSameAs(injected.template());
                assertThat(injected.billing()).isSameAs(context.getBean(DelayQueueSystem.class).template());
            });
        }
    }

    @Test
    void leavesNoThreadAndNoConnectionOnEitherServer() {
        try (RedisServer other = RedisServer.start(RedisBinary.REDIS_7_0)) {
            Set<String> connections = ResourceLeaks.connections(this.redis);
            Set<String> otherConnections = ResourceLeaks.connections(other);
            twoServers(other).run((context) -> {
                context.getBean("billingTemplate", DelayQueueTemplate.class).send("orders", "x");
                assertThat(next(context.getBean(Handlers.class))).isEqualTo("billing: x");
                assertThat(ResourceLeaks.connections(other)).hasSizeGreaterThan(otherConnections.size());
            });

            await().atMost(LIMIT).untilAsserted(() -> assertThat(this.leaks.threads()).isEmpty());
            await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(ResourceLeaks.connections(this.redis)).isEqualTo(connections));
            await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(ResourceLeaks.connections(other)).isEqualTo(otherConnections));
        }
    }

    @Test
    void anUnavailableServerDoesNotAffectTheOtherSystem(CapturedOutput output) {
        try (RedisServer other = RedisServer.start(RedisBinary.REDIS_7_0)) {
            other.kill();
            twoServers(other).run((context) -> {
                assertThat(context).hasNotFailed();
                assertThat(output).contains("Redis is not reachable");
                Handlers handlers = context.getBean(Handlers.class);
                context.getBean(DelayQueueTemplate.class).send("orders", "x");
                assertThat(next(handlers)).isEqualTo("first: x");

                other.restart();
                DelayQueueTemplate billing = context.getBean("billingTemplate", DelayQueueTemplate.class);
                await().atMost(LIMIT).ignoreExceptions().until(() -> billing.send("orders", "y") != null);
                assertThat(next(handlers)).isEqualTo("billing: y");
            });
        }
    }

    @Test
    void anotherNamespaceOnTheSameServerHasOtherQueues() {
        this.application.withUserConfiguration(OtherNamespace.class, Handlers.class).run((context) -> {
            DelayQueueSystem billing = context.getBean(DelayQueueSystem.class);
            context.getBean(DelayQueueTemplate.class).send("later", "1", "x", Duration.ofHours(1));

            assertThat(billing.template().send("later", "1", "y", Duration.ofHours(1)).outcome())
                .isEqualTo(SendOutcome.SCHEDULED);
            assertThat(billing.inspector().queues(null, 10).queues()).containsExactly("later", "orders");
            assertThat(billing.inspector().overviews(List.of("later")).overviews()).extracting(QueueOverview::scheduled)
                .containsExactly(1L);
            assertThat(billing.integrityChecker().check("later").findings()).isEmpty();
            billing.template().send("orders", "z");
            assertThat(next(context.getBean(Handlers.class))).isEqualTo("billing: z");
        });
    }

    @Test
    void hasItsOwnListenersThatStartAndStopWithTheApplication() {
        this.application.withUserConfiguration(OtherNamespace.class, Handlers.class).run((context) -> {
            DelayQueueSystem billing = context.getBean(DelayQueueSystem.class);
            assertThat(billing.listeners().listeners()).extracting(ListenerContainer::id).containsExactly("billing");
            assertThat(context.getBean(DelayedListenerRegistry.class).listeners()).extracting(ListenerContainer::id)
                .containsExactly("first");
            ListenerContainer listener = billing.listeners().require("billing");
            assertThat(listener.isRunning()).isTrue();

            context.stop();
            assertThat(listener.isRunning()).isFalse();
            context.start();
            billing.template().send("orders", "again");
            assertThat(next(context.getBean(Handlers.class))).isEqualTo("billing: again");
        });
    }

    @Test
    void mayHaveItsOwnProperties() {
        this.application.withUserConfiguration(OwnProperties.class, Handlers.class)
            .withPropertyValues("delayqueue.listener.concurrency=3", "billing.queue.namespace=systems-own",
                    "billing.queue.queues.orders.concurrency=7", "billing.queue.max-payload-size=2MB")
            .run((context) -> {
                DelayQueueSystem billing = context.getBean(DelayQueueSystem.class);
                assertThat(billing.listeners().require("billing").concurrency()).isEqualTo(7);
                assertThat(context.getBean(DelayedListenerRegistry.class).require("first").concurrency()).isEqualTo(3);
                billing.template().send("later", "x".repeat(1 << 20), Duration.ofHours(1));
                assertThat(this.redis.commands().keys("systems-own:*")).isNotEmpty();
            });
    }

    @Test
    void invalidPropertiesOfASystemFailTheStart() {
        this.application.withUserConfiguration(OwnProperties.class)
            .withPropertyValues("billing.queue.namespace=not valid")
            .run((context) -> assertThat(context).getFailure()
                .hasStackTraceContaining("billing.queue")
                .hasStackTraceContaining("namespace 'not valid' is not valid"));
    }

    /** Otherwise the advice would be to change a setting of the own queues. */
    @ParameterizedTest
    @CsvSource(delimiter = '|',
            textBlock = """
                    command-timeout=50ms         | command-timeout must be 100ms to 1h, but was 50 ms
                    dead-letters.retention=-1s   | dead-letters.retention must be zero to 36500 days, but was -1 s
                    queues.orders.concurrency=0  | queues.orders.concurrency must be 1 to 10000, but was 0
                    durability.wait-timeout=1h   | durability.wait-timeout must be 1ms to half of billing.queue.command-timeout (5 s), but was 1 h
                    """)
    void anInvalidValueIsReportedWithThePropertyOfTheSystem(String setting, String problem) {
        this.application.withUserConfiguration(OwnProperties.class)
            .withPropertyValues("billing.queue.durability.wait-replicas=1", "billing.queue." + setting)
            .run((context) -> assertThat(StartupFailures.of(context.getStartupFailure()).getDescription())
                .endsWith(": billing.queue." + problem));
    }

    /** Messages may depend on them. */
    @ParameterizedTest
    @CsvSource(delimiter = '|',
            textBlock = """
                    journal.mode=ledger               | journal.mode must be off, as a further queue system has no journal, but was ledger
                    queues.orders.journal-mode=audit  | queues[orders].journal-mode must be off, as a further queue system has no journal, but was audit
                    forward.orders.to=bean:broker     | forward must be empty, as a further queue system has no forwards and no intakes, but has orders
                    intake.kafka.late.to=orders       | intake.kafka must be empty, as a further queue system has no forwards and no intakes, but has late
                    intake.rabbit.late.to=orders      | intake.rabbit must be empty, as a further queue system has no forwards and no intakes, but has late
                    """)
    void settingsThatOnlyTheOwnQueuesHaveFailTheStart(String setting, String problem) {
        this.application.withUserConfiguration(OwnProperties.class)
            .withPropertyValues("billing.queue.namespace=systems-own", "billing.queue." + setting)
            .run((context) -> assertThat(context).getFailure().rootCause().hasMessage("billing.queue." + problem));
    }

    @Test
    void aMissingConnectionFactoryIsReportedWithThePropertyOfTheSystem() {
        this.application.withUserConfiguration(OwnProperties.class)
            .withPropertyValues("billing.queue.namespace=systems-own", "billing.queue.connection-factory=none")
            .run((context) -> {
                FailureAnalysis text = StartupFailures.of(context.getStartupFailure());
                assertThat(text.getDescription()).startsWith("billing.queue.connection-factory is 'none', but there");
                assertThat(text.getAction()).startsWith("Set billing.queue.connection-factory to one of [");
            });
    }

    @Test
    void aMissingExecutorIsReportedWithThePropertyOfTheSystem() {
        this.application.withUserConfiguration(OwnProperties.class)
            .withPropertyValues("billing.queue.namespace=systems-own", "billing.queue.listener.executor=none")
            .run((context) -> assertThat(context).getFailure()
                .hasStackTraceContaining("Property billing.queue.listener.executor with value 'none' is invalid"));
    }

    @Test
    void usesTheInMemoryStoreIfTheApplicationDoes() {
        this.application.withUserConfiguration(OtherServer.class, Handlers.class)
            .withPropertyValues("delayqueue.store=memory", "billing.port=1")
            .run((context) -> {
                context.getBean("billingTemplate", DelayQueueTemplate.class).send("orders", "x");
                assertThat(next(context.getBean(Handlers.class))).isEqualTo("billing: x");
                assertThat(context.getBean(DelayQueueTemplate.class).statistics("orders").scheduled()).isZero();
            });
    }

    /** Each system knows the queues of its own listeners. */
    @Test
    void rejectsItsOwnUnknownQueuesIfEnabled(CapturedOutput output) {
        this.application.withUserConfiguration(OtherNamespace.class, Handlers.class)
            .withPropertyValues("delayqueue.send.unknown-queues=reject", "delayqueue.queues.invoices.concurrency=2",
                    "billing.listen=invoices")
            .run((context) -> {
                DelayQueueTemplate billing = context.getBean(DelayQueueSystem.class).template();
                billing.send("invoices", "x");
                assertThat(next(context.getBean(Handlers.class))).isEqualTo("billing: x");
                assertThatExceptionOfType(UnknownQueueException.class).isThrownBy(() -> billing.send("order", "x"));
                assertThatExceptionOfType(UnknownQueueException.class)
                    .isThrownBy(() -> context.getBean(DelayQueueTemplate.class).send("order", "x"));
            });
        assertThat(output).doesNotContain("concern no listener");
    }

    @Test
    void requiresItsOwnConnectionOrNamespace() {
        this.application.withUserConfiguration(NothingOfItsOwn.class)
            .run((context) -> assertThat(context).getFailure()
                .rootCause()
                .hasMessageStartingWith("A further queue system needs a connection factory, a namespace or"));
    }

    @Test
    void aListenerOfAMissingSystemFailsTheStart() {
        this.application.withUserConfiguration(Handlers.class)
            .run((context) -> assertThat(StartupFailures.of(context.getStartupFailure()).getDescription())
                .contains("system must name a bean of type DelayQueueSystem, but was 'billing'"));
    }

    private ApplicationContextRunner twoServers(RedisServer other) {
        return this.application.withUserConfiguration(OtherServer.class, Handlers.class)
            .withPropertyValues("billing.port=" + other.port());
    }

    private static String next(Handlers handlers) throws InterruptedException {
        return handlers.seen.poll(LIMIT.toSeconds(), TimeUnit.SECONDS);
    }

    record Injected(DelayQueueTemplate template, DelayQueueOperations operations,
            @Qualifier("billingTemplate") DelayQueueTemplate billing) {
    }

    /** As docs/configuration.md shows. */
    @Configuration(proxyBeanMethods = false)
    static class OtherServer {

        @Bean(defaultCandidate = false)
        LettuceConnectionFactory billingRedis(Environment environment) {
            return new LettuceConnectionFactory(new RedisStandaloneConfiguration("localhost",
                    environment.getRequiredProperty("billing.port", Integer.class)));
        }

        @Bean
        DelayQueueSystem billing(DelayQueueSystemBuilder builder,
                @Qualifier("billingRedis") RedisConnectionFactory redis) {
            return builder.connectionFactory(redis).namespace("systems-billing").build();
        }

        @Bean(defaultCandidate = false)
        DelayQueueTemplate billingTemplate(DelayQueueSystem billing) {
            return billing.template();
        }

    }

    @Configuration(proxyBeanMethods = false)
    static class OtherNamespace {

        @Bean
        DelayQueueSystem billing(DelayQueueSystemBuilder builder) {
            return builder.namespace("systems-other").build();
        }

    }

    @Configuration(proxyBeanMethods = false)
    static class OwnProperties {

        @Bean
        DelayQueueSystem billing(DelayQueueSystemBuilder builder) {
            return builder.properties("billing.queue").build();
        }

    }

    @Configuration(proxyBeanMethods = false)
    static class NothingOfItsOwn {

        @Bean
        DelayQueueSystem billing(DelayQueueSystemBuilder builder) {
            return builder.build();
        }

    }

    @Configuration(proxyBeanMethods = false)
    static class Handlers {

        final BlockingQueue<String> seen = new LinkedBlockingQueue<>();

        @DelayedListener(queues = "orders", id = "first")
        void order(String payload) {
            this.seen.add("first: " + payload);
        }

        @DelayedListener(queues = "${billing.listen:orders}", id = "billing", system = "billing")
        void invoice(String payload) {
            this.seen.add("billing: " + payload);
        }

    }

}
