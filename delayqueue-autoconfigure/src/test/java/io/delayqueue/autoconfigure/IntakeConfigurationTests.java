package io.delayqueue.autoconfigure;

import java.time.Duration;
import java.util.Map;

import io.delayqueue.DelayedListener;
import io.delayqueue.SendOutcome;
import io.delayqueue.UnknownQueueException;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.admin.NodeStatus.IntakeStatus;
import io.delayqueue.intake.Intake;
import io.delayqueue.intake.IntakeGroup;
import io.delayqueue.intake.IntakeProblem;
import io.delayqueue.template.DelayQueueTemplate;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** Tests which intakes fail the start, and what operators see of the others. */
class IntakeConfigurationTests {

    private final ApplicationContextRunner application = new ApplicationContextRunner()
        .withConfiguration(AutoConfigurations.of(DelayQueueAutoConfiguration.class,
                DelayQueueListenerAutoConfiguration.class, DelayQueueIntakeAutoConfiguration.class))
        .withPropertyValues("delayqueue.store=memory", "spring.application.name=shop");

    @Test
    void withoutIntakeNothingIsNeeded() {
        this.application.withClassLoader(new FilteredClassLoader(ConsumerFactory.class))
            .run((context) -> assertThat(context).hasNotFailed());
    }

    /** Such as for a test that replaces the template. */
    @Test
    void withoutSourcesThereIsNoIntake() {
        this.application
            .withBean(ConsumerFactory.class,
                    () -> new DefaultKafkaConsumerFactory<>(Map.of("bootstrap.servers", "127.0.0.1:1")))
            .run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(IntakeGroup.class));
    }

    @Test
    void aTopicThatForwardsToItselfIsRejected() {
        this.application
            .withPropertyValues("delayqueue.intake.kafka.late.to=orders", "delayqueue.forward.orders.to=kafka:late::id")
            .run((context) -> assertThat(context).getFailure()
                .hasMessageContaining("delayqueue.forward.orders.to is 'kafka:late'")
                .hasMessageContaining("without end: kafka:late -> orders -> kafka:late"));
    }

    @Test
    void aLoopThroughSeveralQueuesAndBrokersIsRejected() {
        this.application
            .withPropertyValues("delayqueue.intake.kafka.late.to=orders",
                    "delayqueue.forward.orders.to=rabbit:/invoices", "delayqueue.intake.rabbit.invoices.to=bills",
                    "delayqueue.forward.bills.to=kafka:late")
            .run((context) -> assertThat(context).getFailure().hasMessageContaining("without end: "));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|',
            value = { "delayqueue.intake.kafka.late.to=orders | it needs spring-kafka, and one ConsumerFactory bean",
                    "delayqueue.intake.rabbit.late.to=orders | it needs spring-rabbit, and one ConnectionFactory bean",
                    "delayqueue.intake.kafka.late.to=a b | delayqueue.intake.kafka.late.to is 'a b'",
                    "delayqueue.intake.kafka.late.group-id=x | delayqueue.intake.kafka.late.to is ''",
                    "delayqueue.intake.kafka.late.concurrency=0 | delayqueue.intake.kafka.late.concurrency is '0'" })
    void anImpossibleIntakeFailsTheStart(String setting, String problem) {
        this.application.withPropertyValues(setting)
            .run((context) -> assertThat(context).getFailure().hasMessageContaining(problem));
    }

    /** The names of the properties would be missing in errors of the broker's client. */
    @ParameterizedTest
    @CsvSource({ "delayqueue.intake.kafka.late.to=a b", "delayqueue.intake.kafka.late.concurrency=0" })
    void settingsAreCheckedBeforeAnIntakeIsCreated(String setting) {
        this.application
            .withBean(ConsumerFactory.class,
                    () -> new DefaultKafkaConsumerFactory<>(Map.of("bootstrap.servers", "127.0.0.1:1")))
            .withPropertyValues(setting)
            .run((context) -> assertThat(context).getFailure()
                .hasStackTraceContaining(setting.substring(0, setting.indexOf('=')) + " is '"));
    }

    /** Two applications with one group would each get half of the records. */
    @Test
    void aConsumerGroupIsNamedAfterTheApplicationAndNamespace() {
        IntakeSettings.Topic topic = new IntakeSettings.Topic("orders", null, 1);
        this.application.withPropertyValues("delayqueue.namespace=emea")
            .run((context) -> assertThat(context.getBean(IntakeCheck.class).groupId("late", topic))
                .isEqualTo("shop-emea-delayqueue-intake"));
    }

    @Test
    void anApplicationWithoutNameNeedsAConsumerGroup() {
        this.application.withPropertyValues("spring.application.name=", "delayqueue.intake.kafka.late.to=orders")
            .run((context) -> assertThat(context).getFailure()
                .rootCause()
                .hasMessageContaining("delayqueue.intake.kafka.late.group-id is ''"));
    }

    /** A broker may be deployed later than the application. */
    @Test
    void anIntakeWhoseBrokerHasNoAddressYetDoesNotFailTheStart() {
        this.application
            .withBean(ConsumerFactory.class,
                    () -> new DefaultKafkaConsumerFactory<>(Map.of("bootstrap.servers", "no-such-host.invalid:9092")))
            .withPropertyValues("delayqueue.intake.kafka.late.to=orders")
            .run((context) -> {
                assertThat(context).hasNotFailed();
                Intake intake = context.getBean(IntakeGroup.class).intakes().get(0);
                assertThat(intake.isRunning()).isTrue();
                assertThat(intake.problem()).isNotNull()
                    .extracting(IntakeProblem::text)
                    .asString()
                    .contains("no name of a broker can be resolved");
                intake.stop();
                assertThat(intake.isRunning()).isFalse();
            });
    }

    /** The first report of a node precedes the first read of the status. */
    @Test
    @Tag("matrix")
    void aNodeReportsItsIntakes() {
        this.application.withBean(Orders.class)
            .withBean(ConsumerFactory.class,
                    () -> new DefaultKafkaConsumerFactory<>(Map.of("bootstrap.servers", "no-such-host.invalid:9092")))
            .withPropertyValues("delayqueue.intake.kafka.late.to=orders")
            .run((context) -> await().atMost(Duration.ofSeconds(30))
                .untilAsserted(() -> assertThat(context.getBean(DelayQueueInspector.class).nodes()).singleElement()
                    .satisfies((node) -> assertThat(node.intakes())
                        .containsExactly(new IntakeStatus("kafka:late", "orders", true, null, 0, 0, 0, 0)))));
    }

    /** Alerts need the meters, and nothing in the application injects them. */
    @Test
    void aLazyApplicationHasTheMetersOfAnIntake() {
        this.application.withConfiguration(AutoConfigurations.of(DelayQueueMetricsAutoConfiguration.class))
            .withInitializer(
                    (context) -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
            .withBean(SimpleMeterRegistry.class)
            .withBean(ConsumerFactory.class,
                    () -> new DefaultKafkaConsumerFactory<>(Map.of("bootstrap.servers", "127.0.0.1:1")))
            .withPropertyValues("delayqueue.intake.kafka.late.to=orders")
            .run((context) -> assertThat(
                    context.getBean(SimpleMeterRegistry.class).find("delayqueue.intake.outage").gauge())
                .isNotNull());
    }

    /** Every record would otherwise be tried again without end. */
    @Test
    void theQueueOfAnIntakeIsKnown() {
        this.application
            .withBean(ConsumerFactory.class,
                    () -> new DefaultKafkaConsumerFactory<>(Map.of("bootstrap.servers", "127.0.0.1:1")))
            .withPropertyValues("delayqueue.send.unknown-queues=reject", "delayqueue.intake.kafka.late.to=orders")
            .run((context) -> {
                DelayQueueTemplate template = context.getBean(DelayQueueTemplate.class);
                assertThat(template.send("orders", "content").outcome()).isEqualTo(SendOutcome.SCHEDULED);
                assertThatExceptionOfType(UnknownQueueException.class)
                    .isThrownBy(() -> template.send("others", "content"));
            });
    }

    /** Handles messages, so that the node reports. */
    static class Orders {

        @DelayedListener("orders")
        void handle(String order) {
        }

    }

}
