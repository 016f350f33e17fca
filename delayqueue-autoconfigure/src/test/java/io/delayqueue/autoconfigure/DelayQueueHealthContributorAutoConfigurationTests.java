package io.delayqueue.autoconfigure;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedListener;
import io.delayqueue.QueueName;
import io.delayqueue.actuator.DelayQueueHealthIndicator;
import io.delayqueue.actuator.HealthSettings;
import io.delayqueue.actuator.StatisticsCache;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.listener.ListenerContainer;
import io.delayqueue.listener.handler.HandlerOutage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionCounts;
import io.delayqueue.store.QueueInspector;
import io.delayqueue.store.routing.StoreComponents;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.health.autoconfigure.registry.HealthContributorRegistryAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.health.registry.HealthContributorRegistry;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/** Tests the result of the health contributor, and when it exists. */
class DelayQueueHealthContributorAutoConfigurationTests {

    private final ApplicationContextRunner application = new ApplicationContextRunner()
        .withConfiguration(AutoConfigurations.of(DelayQueueAutoConfiguration.class,
                DelayQueueListenerAutoConfiguration.class, DelayQueueHealthContributorAutoConfiguration.class,
                HealthContributorRegistryAutoConfiguration.class))
        .withPropertyValues("delayqueue.store=memory", "delayqueue.metrics.interval=100ms")
        .withBean(Handler.class);

    @Test
    void isUpWhileQueuesAndStoreAreHealthy() {
        this.application.run((context) -> {
            Health health = health(context);

            assertThat(health.getStatus()).isEqualTo(Status.UP);
            assertThat(health.getDetails()).containsOnlyKeys("queues", "listeners")
                .hasToString("{queues={orders=nothing due}, listeners={all=running}}");
        });
    }

    @Test
    void isDownWhileAQueueIsBehind() {
        // Paused before it starts, as a poll that is under way may still claim.
        this.application
            .withPropertyValues("delayqueue.health.max-due-age=1ms", "delayqueue.listener.auto-startup=false")
            .run((context) -> {
                ListenerContainer listener = context.getBean(DelayedListenerRegistry.class).require("all");
                listener.pause();
                listener.start();
                context.getBean(DelayQueueOperations.class).send("orders", "a", Duration.ZERO);

                await().untilAsserted(() -> assertThat(health(context).getStatus()).isEqualTo(Status.DOWN));
                assertThat(problems(health(context))).singleElement()
                    .asString()
                    .startsWith("Queue 'orders' is behind: 1 due, the oldest for ");

                context.getBean(DelayQueueOperations.class).pause("orders");
                await().untilAsserted(() -> assertThat(health(context).getStatus()).isEqualTo(Status.UP));
                assertThat(health(context).getDetails())
                    .hasToString("{queues={orders=paused, 1 due}, listeners={all=paused}}");
            });
    }

    @Test
    void ignoresABacklogWithoutALimit() {
        this.application.withPropertyValues("delayqueue.health.max-due-age=0").run((context) -> {
            context.getBean(DelayedListenerRegistry.class).require("all").stop();
            context.getBean(DelayQueueOperations.class).send("orders", "a", Duration.ZERO);

            await().untilAsserted(() -> assertThat(health(context).getDetails().get("queues").toString())
                .contains("1 due, the oldest for"));
            assertThat(health(context).getStatus()).isEqualTo(Status.UP);
            assertThat(health(context).getDetails().get("listeners")).hasToString("{all=stopped}");
        });
    }

    @Test
    void reportsThatWakeUpsAreNotReceived() {
        this.application.run((context) -> {
            Health health = new DelayQueueHealthIndicator(context.getBean(StatisticsCache.class),
                    context.getBean(DelayedListenerRegistry.class), (partition) -> false,
                    new HealthSettings(null, Duration.ofSeconds(10), Duration.ofSeconds(5)), Map::of)
                .health();
            assertThat(health.getStatus()).isEqualTo(Status.DOWN);
            assertThat(problems(health)).containsExactly("Listener 'all' receives no wake-ups of queue 'orders': its "
                    + "messages are found by the safety poll, up to 5 s late");
        });
    }

    /**
     * A broker that is away for seconds is no news, and for longer no lack of handlers.
     */
    @Test
    void reportsThatMessagesWaitForABroker() {
        ListenerContainer listener = mock(ListenerContainer.class);
        given(listener.id()).willReturn("forward.orders");
        given(listener.queues()).willReturn(List.of("orders"));
        given(listener.isRunning()).willReturn(true);
        given(listener.outage()).willReturn(outage(Duration.ofSeconds(10)), outage(Duration.ofSeconds(90)));
        DelayedListenerRegistry listeners = mock(DelayedListenerRegistry.class);
        given(listeners.listeners()).willReturn(List.of(listener));
        this.application.run((context) -> {
            HealthIndicator indicator = new DelayQueueHealthIndicator(context.getBean(StatisticsCache.class), listeners,
                    (partition) -> false, new HealthSettings(null, Duration.ofSeconds(10), Duration.ofSeconds(5)),
                    Map::of);

            Health health = indicator.health();
            assertThat(health.getStatus()).isEqualTo(Status.UP);
            assertThat(health.getDetails().get("listeners")).hasToString("{forward.orders=waits for another system}");
            health = indicator.health();
            assertThat(health.getStatus()).isEqualTo(Status.DOWN);
            assertThat(problems(health)).containsExactly(
                    "Messages of queue 'orders' cannot be forwarded to 'kafka:orders' for 1 min 30 s: no answer");
        });
    }

    private static HandlerOutage outage(Duration age) {
        return new HandlerOutage("Messages of queue 'orders' cannot be forwarded to 'kafka:orders'", "no answer", age);
    }

    @ParameterizedTest
    @ValueSource(booleans = { false, true })
    void reportsThatTheStoreDoesNotAnswerForOneQueue(boolean hangs) {
        QueueInspector inspector = mock(QueueInspector.class);
        PartitionCounts none = new PartitionCounts(0, 0, 0, 0, 0, 0, null, null, 0, Instant.EPOCH);
        given(inspector.counts(any())).willReturn(CompletableFuture.completedFuture(none));
        given(inspector.counts(Partition.first(new QueueName("orders")))).willReturn(
                hangs ? new CompletableFuture<>() : CompletableFuture.failedFuture(new IllegalStateException("away")));
        this.application.run((context) -> {
            StatisticsCache statistics = new StatisticsCache(inspector, context.getBean(StoreComponents.class),
                    () -> List.of(new QueueName("bills"), new QueueName("orders")), Duration.ofMinutes(1),
                    System::nanoTime);
            DelayedListenerRegistry listeners = context.getBean(DelayedListenerRegistry.class);
            HealthIndicator indicator = new DelayQueueHealthIndicator(statistics, listeners, (partition) -> true,
                    new HealthSettings(null, Duration.ofMillis(100), Duration.ofSeconds(5)), Map::of);

            Health health = indicator.health();
            assertThat(health).isNotNull();
            assertThat(health.getStatus()).isEqualTo(Status.DOWN);
            assertThat(problems(health)).containsExactly("The store does not answer for queue 'orders', so its "
                    + "messages are not handled; other queues may be well");

            listeners.require("all").stop();
            assertThat(indicator.health()).isNotNull().extracting(Health::getStatus).isEqualTo(Status.UP);
        });
    }

    /** The last counts are of before the listener existed. */
    @Test
    void isUpRightAfterAListenerIsRegistered() {
        QueueInspector inspector = mock(QueueInspector.class);
        PartitionCounts none = new PartitionCounts(0, 0, 0, 0, 0, 0, null, null, 0, Instant.EPOCH);
        given(inspector.counts(any())).willReturn(CompletableFuture.completedFuture(none));
        AtomicReference<List<QueueName>> queues = new AtomicReference<>(List.of(new QueueName("bills")));
        this.application.run((context) -> {
            StatisticsCache statistics = new StatisticsCache(inspector, context.getBean(StoreComponents.class),
                    queues::get, Duration.ofHours(1), System::nanoTime);
            HealthIndicator indicator = new DelayQueueHealthIndicator(statistics,
                    context.getBean(DelayedListenerRegistry.class), (partition) -> true,
                    new HealthSettings(null, Duration.ofSeconds(10), Duration.ofSeconds(5)), Map::of);

            Health health = indicator.health();

            assertThat(health).isNotNull();
            assertThat(health.getStatus()).isEqualTo(Status.UP);
            assertThat(health.getDetails().get("queues")).hasToString("{orders=unknown}");
        });
    }

    /** However seldom the meters are read. */
    @Test
    void isUpSoonAfterTheStoreAnswersAgain() {
        AtomicLong now = new AtomicLong();
        QueueInspector inspector = mock(QueueInspector.class);
        PartitionCounts none = new PartitionCounts(0, 0, 0, 0, 0, 0, null, null, 0, Instant.EPOCH);
        given(inspector.counts(any())).willReturn(CompletableFuture.completedFuture(none))
            .willReturn(CompletableFuture.failedFuture(new IllegalStateException("away")))
            .willReturn(CompletableFuture.completedFuture(none));
        this.application.run((context) -> {
            StatisticsCache statistics = new StatisticsCache(inspector, context.getBean(StoreComponents.class),
                    () -> List.of(new QueueName("orders")), Duration.ofHours(1), now::get);
            HealthIndicator indicator = new DelayQueueHealthIndicator(statistics,
                    context.getBean(DelayedListenerRegistry.class), (partition) -> true,
                    new HealthSettings(Duration.ofMinutes(1), Duration.ofSeconds(10), Duration.ofSeconds(5)), Map::of);

            assertThat(indicator.health()).isNotNull().extracting(Health::getStatus).isEqualTo(Status.DOWN);
            now.addAndGet(Duration.ofSeconds(1).toNanos());
            assertThat(indicator.health()).isNotNull().extracting(Health::getStatus).isEqualTo(Status.UP);

            Duration tooLong = Duration.ofMinutes(2);
            given(inspector.counts(any())).willReturn(CompletableFuture.completedFuture(
                    new PartitionCounts(1, 1, 0, 0, 0, 0, Instant.EPOCH, null, 0, Instant.EPOCH.plus(tooLong))));
            now.addAndGet(Duration.ofSeconds(10).toNanos());
            assertThat(indicator.health()).isNotNull().extracting(Health::getStatus).isEqualTo(Status.DOWN);
        });
    }

    @Test
    void doesNotWaitForAHangingStoreAndReportsItAsDownAfterAWhile() {
        AtomicLong now = new AtomicLong();
        QueueInspector inspector = mock(QueueInspector.class);
        PartitionCounts none = new PartitionCounts(0, 0, 0, 0, 0, 0, null, null, 0, Instant.EPOCH);
        this.application.run((context) -> {
            StatisticsCache statistics = new StatisticsCache(inspector, context.getBean(StoreComponents.class),
                    () -> List.of(new QueueName("orders")), Duration.ofSeconds(10), now::get);
            HealthIndicator indicator = new DelayQueueHealthIndicator(statistics,
                    context.getBean(DelayedListenerRegistry.class), (partition) -> true,
                    new HealthSettings(Duration.ofMinutes(1), Duration.ofMillis(100), Duration.ofSeconds(5)), Map::of);

            given(inspector.counts(any())).willReturn(CompletableFuture.completedFuture(none));
            assertThat(healthOf(indicator).getStatus()).isEqualTo(Status.UP);
            CompletableFuture<PartitionCounts> hanging = new CompletableFuture<>();
            given(inspector.counts(any())).willReturn(hanging);
            now.addAndGet(Duration.ofSeconds(5).toNanos());
            assertThat(healthOf(indicator).getDetails()).as("as was known 5 s ago")
                .hasToString("{queues={orders=nothing due}, listeners={all=running}}");

            now.addAndGet(1);
            assertThat(problems(healthOf(indicator))).containsExactly(
                    "The store does not answer, so nothing is sent and nothing handled: there was no answer for 5 s");
            given(inspector.counts(any())).willReturn(new CompletableFuture<>());
            hanging.completeExceptionally(new IllegalStateException("of the client"));
            await().untilAsserted(() -> assertThat(problems(healthOf(indicator))).containsExactly(
                    "The store does not answer, so nothing is sent and nothing handled: there was no answer for 5 s, "
                            + "and the last failure was java.lang.IllegalStateException: of the client"));
        });
    }

    private static Health healthOf(HealthIndicator indicator) {
        Health health = indicator.health();
        assertThat(health).isNotNull();
        return health;
    }

    @Test
    void isNamedAndDisabledLikeBootsContributors() {
        this.application
            .run((context) -> assertThat(context.getBean(HealthContributorRegistry.class).getContributor("delayqueue"))
                .isInstanceOf(DelayQueueHealthIndicator.class));
        this.application.withPropertyValues("management.health.delayqueue.enabled=false")
            .run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(DelayQueueHealthIndicator.class));
        this.application.withPropertyValues("management.health.defaults.enabled=false")
            .run((context) -> assertThat(context).doesNotHaveBean(DelayQueueHealthIndicator.class));
    }

    @Test
    void startsWithoutHealth() {
        // Found as Boot finds it: read, and not loaded.
        new ApplicationContextRunner().withUserConfiguration(EnabledApplication.class)
            .withPropertyValues("delayqueue.store=memory")
            .withClassLoader(new FilteredClassLoader("org.springframework.boot.health"))
            .run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(DelayQueueHealthIndicator.class));
    }

    private static Health health(ApplicationContext context) {
        Health health = context.getBean("delayqueueHealthIndicator", HealthIndicator.class).health();
        assertThat(health).isNotNull();
        return health;
    }

    private static List<Object> problems(Health health) {
        return List.copyOf((List<?>) health.getDetails().get("problems"));
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({ DelayQueueAutoConfiguration.class, DelayQueueListenerAutoConfiguration.class,
            DelayQueueHealthContributorAutoConfiguration.class })
    static class EnabledApplication {

    }

    static class Handler {

        @DelayedListener(id = "all", queues = "orders")
        void handle(String payload) {
        }

    }

}
