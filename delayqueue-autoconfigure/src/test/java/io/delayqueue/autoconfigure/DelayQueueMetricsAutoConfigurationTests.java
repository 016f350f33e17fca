package io.delayqueue.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedListener;
import io.delayqueue.QueueName;
import io.delayqueue.SendOutcome;
import io.delayqueue.actuator.MicrometerEventRecorderFactory;
import io.delayqueue.actuator.QueueGauges;
import io.delayqueue.store.MessageEventRecorder;
import io.delayqueue.store.MessageEventRecorderFactory;
import io.delayqueue.store.routing.StoreComponents;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

/** Checks when meters exist, and for which queues. */
class DelayQueueMetricsAutoConfigurationTests {

    private static final AutoConfigurations OURS = AutoConfigurations.of(DelayQueueAutoConfiguration.class,
            DelayQueueListenerAutoConfiguration.class, DelayQueueMetricsAutoConfiguration.class);

    private final ApplicationContextRunner withoutRegistry = new ApplicationContextRunner().withConfiguration(OURS)
        .withPropertyValues("delayqueue.store=memory");

    private final ApplicationContextRunner application = this.withoutRegistry
        .withConfiguration(AutoConfigurations.of(MetricsAutoConfiguration.class,
                CompositeMeterRegistryAutoConfiguration.class, SimpleMetricsExportAutoConfiguration.class));

    @Test
    void countsInBootsRegistry() {
        this.application.withBean("handler", Handler.class).run((context) -> {
            context.getBean(DelayQueueOperations.class).send("orders", "a", Duration.ofHours(1));

            MeterRegistry meters = context.getBean(MeterRegistry.class);
            assertThat(meters.get("delayqueue.sent").tags("queue", "orders", "outcome", "scheduled").counter().count())
                .isOne();
            assertThat(meters.get("delayqueue.messages.scheduled").tag("queue", "orders").gauge().value())
                .isNotNegative();
            assertThat(meters.get("delayqueue.handlers.available").tag("listener", "handler.handle").gauge().value())
                .isEqualTo(10);
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
                throw new IllegalStateException("broken");
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
