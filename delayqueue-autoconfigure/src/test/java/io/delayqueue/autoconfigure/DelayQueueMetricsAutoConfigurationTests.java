package io.delayqueue.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedListener;
import io.delayqueue.QueueName;
import io.delayqueue.SendOutcome;
import io.delayqueue.actuator.MicrometerEventRecorderFactory;
import io.delayqueue.actuator.QueueGauges;
import io.delayqueue.forward.BrokerUnavailableException;
import io.delayqueue.forward.MessageForwarder;
import io.delayqueue.listener.DelayedListenerEndpoint;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.store.MessageEventRecorder;
import io.delayqueue.store.MessageEventRecorderFactory;
import io.delayqueue.store.RemoteConsumerQueues;
import io.delayqueue.store.routing.StoreComponents;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

/** Checks when meters exist, and for which queues. */
class DelayQueueMetricsAutoConfigurationTests {

    private static final AutoConfigurations OURS = AutoConfigurations.of(DelayQueueAutoConfiguration.class,
            DelayQueueListenerAutoConfiguration.class, DelayQueueMetricsAutoConfiguration.class);

    private final ApplicationContextRunner withoutRegistry = new ApplicationContextRunner().withConfiguration(OURS)
        .withPropertyValues("delayqueue.store=memory");

    private final ApplicationContextRunner application = this.withoutRegistry
        .withConfiguration(AutoConfigurations.of(MetricsAutoConfiguration.class,
                CompositeMeterRegistryAutoConfiguration.class, SimpleMetricsExportAutoConfiguration.class));

    /** Two sets of meters of the same handlers would cost twice and confuse. */
    @ParameterizedTest
    @CsvSource({ "true,delayqueue.handled", "false,delayqueue.handle" })
    void handlersHaveOneSetOfMetersIfTheyAreObserved(boolean metered, String name) {
        this.application
            .withConfiguration(AutoConfigurations.of(DelayQueueObservationAutoConfiguration.class,
                    ObservationAutoConfiguration.class))
            .withBean("handler", Handler.class)
            .withPropertyValues("delayqueue.observation.enabled=true", "delayqueue.metrics.enabled=" + metered)
            .run((context) -> {
                context.getBean(DelayQueueOperations.class).send("orders", "a", Duration.ZERO);
                MeterRegistry meters = context.getBean(MeterRegistry.class);
                await().untilAsserted(() -> assertThat(meters.find(name).timers()).anyMatch((one) -> one.count() == 1));
                assertThat(ids(meters)).extracting(Meter.Id::getName)
                    .filteredOn((one) -> one.matches("delayqueue\\.handled?(\\.active)?"))
                    .allMatch((one) -> one.startsWith("delayqueue.handled") == metered);
                assertThat(meters.find("delayqueue.send").timer()).as("of the observation of the send").isNotNull();
            });
    }

    /** Queues that come and go must not leave meters behind. */
    @Test
    void metersOfAListenerGoWithIt() {
        this.application.withBean("handler", Handler.class).run((context) -> {
            MeterRegistry meters = context.getBean(MeterRegistry.class);
            DelayedListenerRegistry registry = context.getBean(DelayedListenerRegistry.class);
            Set<Meter.Id> before = ids(meters);
            for (String queue : List.of("orders", "late")) {
                for (int i = 0; i < 2; i++) {
                    registry.register(
                            DelayedListenerEndpoint.builder("late", queue).handler(Object.class, (json, delivery) -> {
                            }).build());
                    assertThat(meters.get("delayqueue.handlers.available").tag("listener", "late").gauge().value())
                        .isEqualTo(10);
                    assertThat(meters.get("delayqueue.lateness").tag("listener", "late").timer().count()).isZero();
                    assertThat(meters.get("delayqueue.messages.due").tag("queue", queue).gauge()).isNotNull();
                    registry.unregister("late");
                }
                assertThat(meters.find("delayqueue.messages.due").tag("queue", "orders").gauge()).isNotNull();
            }

            Set<Meter.Id> left = ids(meters);
            left.removeAll(before);
            assertThat(left).allMatch((id) -> id.getType() == Meter.Type.COUNTER);
            assertThat(ids(meters)).containsAll(before);
        });
    }

    /** It begins with the first failure, and ends with the first success. */
    @Test
    void theOutageOfABrokerIsMeasured() {
        AtomicBoolean away = new AtomicBoolean(true);
        this.application.withConfiguration(AutoConfigurations.of(DelayQueueForwardAutoConfiguration.class))
            .withPropertyValues("delayqueue.forward.orders.to=bean:broker")
            .withBean("broker", MessageForwarder.class,
                    () -> (message) -> away.get()
                            ? CompletableFuture.failedFuture(new BrokerUnavailableException("away", null))
                            : CompletableFuture.completedFuture(null))
            .run((context) -> {
                Gauge outage = context.getBean(MeterRegistry.class)
                    .get("delayqueue.handlers.outage")
                    .tags("queue", "orders", "listener", "forward.orders")
                    .gauge();
                assertThat(outage.value()).isZero();

                context.getBean(DelayQueueOperations.class).send("orders", "a", Duration.ZERO);
                await().until(() -> outage.value() > 0);

                away.set(false);
                await().until(() -> outage.value() == 0);
            });
    }

    /** Intake may be configured for topics and for queues of RabbitMQ. */
    @Test
    void theMessagesOfEachIntakeAreCounted() {
        this.application.withConfiguration(AutoConfigurations.of(DelayQueueIntakeAutoConfiguration.class))
            .withBean(ConsumerFactory.class,
                    () -> new DefaultKafkaConsumerFactory<>(Map.of("bootstrap.servers", "127.0.0.1:1")))
            .withPropertyValues("delayqueue.intake.kafka.late.to=orders", "spring.application.name=shop")
            .run((context) -> {
                MeterRegistry meters = context.getBean(MeterRegistry.class);
                assertThat(meters.get("delayqueue.intake.messages")
                    .tags("queue", "orders", "source", "kafka:late")
                    .functionCounters()).extracting((counter) -> counter.getId().getTag("outcome"))
                    .containsExactlyInAnyOrder("scheduled", "kept", "skipped", "invalid", "failed");
                assertThat(meters.get("delayqueue.intake.outage").tag("source", "kafka:late").gauge().value()).isZero();
            });
    }

    private static Set<Meter.Id> ids(MeterRegistry meters) {
        return meters.getMeters()
            .stream()
            .map(Meter::getId)
            .filter((id) -> id.getName().startsWith("delayqueue."))
            .collect(Collectors.toCollection(HashSet::new));
    }

    @Test
    void countsInBootsRegistry() {
        this.application.withBean("handler", Handler.class)
            .withPropertyValues("delayqueue.metrics.interval=100ms")
            .run((context) -> {
                context.getBean(DelayQueueOperations.class).send("orders", "a", Duration.ofHours(1));

                MeterRegistry meters = context.getBean(MeterRegistry.class);
                Counter sent = meters.get("delayqueue.sent").tags("queue", "orders", "outcome", "scheduled").counter();
                assertThat(sent.count()).isOne();
                Gauge scheduled = meters.get("delayqueue.messages.scheduled").tag("queue", "orders").gauge();
                await().until(() -> scheduled.value() == 1);
                Gauge available = meters.get("delayqueue.handlers.available").tag("listener", "handler.handle").gauge();
                assertThat(available.value()).isEqualTo(10);
            });
    }

    /** The increase of a counter that begins with one would be zero. */
    @Test
    void countersOfAQueueExistBeforeItsFirstDeadLetter() {
        this.application.run((context) -> {
            assertThat(context.getBean(DelayQueueOperations.class).receive("received", Duration.ZERO)).isEmpty();
            context.getBean(RemoteConsumerQueues.class).record(new QueueName("remote"));

            assertThat(context.getBean(MeterRegistry.class).get("delayqueue.dead.lettered").counters())
                .extracting((counter) -> counter.getId().getTag("queue"), Counter::count)
                .containsExactlyInAnyOrder(tuple("received", 0.0), tuple("remote", 0.0));
        });
    }

    @Test
    void startsWithoutMicrometer() {
        this.application.withClassLoader(new FilteredClassLoader("io.micrometer.core"))
            .withBean(Handler.class)
            .run(DelayQueueMetricsAutoConfigurationTests::assertNothingIsPublished);
    }

    @Test
    void startsWithoutARegistry() {
        this.withoutRegistry.withBean(Handler.class)
            .run(DelayQueueMetricsAutoConfigurationTests::assertNothingIsPublished);
    }

    @Test
    void isDisabledByItsProperty() {
        this.application.withPropertyValues("delayqueue.metrics.enabled=false")
            .run(DelayQueueMetricsAutoConfigurationTests::assertNothingIsPublished);
    }

    private static void assertNothingIsPublished(AssertableApplicationContext context) {
        assertThat(context).hasNotFailed()
            .doesNotHaveBean(MicrometerEventRecorderFactory.class)
            .doesNotHaveBean(QueueGauges.class);
        assertThat(context.getBean(StoreComponents.class).events()).isSameAs(MessageEventRecorderFactory.NONE);
    }

    @Test
    void eventsOfTheApplicationAreNotifiedBesidesTheMeters() {
        this.application.withUserConfiguration(OwnEvents.class).run((context) -> {
            context.getBean(DelayQueueOperations.class).send("orders", "a", Duration.ofHours(1));

            assertThat(context.getBean("order")).isEqualTo(List.of("first", "broken", "last"));
            assertThat(context.getBean(MeterRegistry.class)
                .get("delayqueue.sent")
                .tags("queue", "orders", "outcome", "scheduled")
                .counter()
                .count()).isOne();
        });
    }

    @Test
    void backsOffFromMetersOfTheApplication() {
        this.application
            .withBean("mine", MicrometerEventRecorderFactory.class,
                    () -> new MicrometerEventRecorderFactory(new SimpleMeterRegistry(), 1))
            .run((context) -> assertThat(context).getBeanNames(MicrometerEventRecorderFactory.class)
                .containsExactly("mine"));
    }

    /** Senders may invent names; a tag must not have unlimited values. */
    @Test
    void queuesBeyondTheLimitShareTheirMeters() {
        this.application.withBean(Handler.class)
            .withPropertyValues("delayqueue.metrics.max-queues=2")
            .run((context) -> {
                DelayQueueOperations queue = context.getBean(DelayQueueOperations.class);
                for (String name : List.of("one", "two", "three", "orders")) {
                    queue.send(name, "a", Duration.ofHours(1));
                }

                MeterRegistry meters = context.getBean(MeterRegistry.class);
                assertThat(meters.find("delayqueue.sent").tag("outcome", "scheduled").counters())
                    .extracting((counter) -> counter.getId().getTag("queue"), Counter::count)
                    .containsExactlyInAnyOrder(tuple("orders", 1.0), tuple("one", 1.0), tuple("(other)", 2.0));
            });
    }

    @Test
    void rejectsAnIntervalThatIsNotPositive() {
        this.application.withPropertyValues("delayqueue.metrics.interval=1ms")
            .run((context) -> assertThat(context).getFailure()
                .hasStackTraceContaining("delayqueue.metrics.interval must be 100ms to 1h, but was 1 ms"));
    }

    /** Several, in another order than they are declared in. */
    @Configuration(proxyBeanMethods = false)
    static class OwnEvents {

        @Bean
        List<String> order() {
            return new ArrayList<>();
        }

        @Bean
        @Order(3)
        MessageEventRecorderFactory last(@Qualifier("order") List<String> order) {
            return onSend(() -> order.add("last"));
        }

        @Bean
        @Order(2)
        MessageEventRecorderFactory broken(@Qualifier("order") List<String> order) {
            return onSend(() -> {
                order.add("broken");
                throw new NoSuchMethodError("of another version of a library");
            });
        }

        @Bean
        @Order(1)
        MessageEventRecorderFactory first(@Qualifier("order") List<String> order) {
            return onSend(() -> order.add("first"));
        }

        private static MessageEventRecorderFactory onSend(Runnable action) {
            MessageEventRecorder events = new MessageEventRecorder() {

                @Override
                public void sent(SendOutcome outcome) {
                    action.run();
                }

            };
            return new MessageEventRecorderFactory() {

                @Override
                public MessageEventRecorder of(QueueName queue) {
                    return events;
                }

                @Override
                public MessageEventRecorder of(QueueName queue, String listenerId) {
                    return events;
                }

                @Override
                public void called(String script, long nanos, boolean answered) {
                }

            };
        }

    }

    static class Handler {

        @DelayedListener("orders")
        void handle(String payload) {
        }

    }

}
