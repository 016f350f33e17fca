package io.delayqueue.intake;

import io.delayqueue.autoconfigure.DelayQueueAutoConfiguration;
import io.delayqueue.autoconfigure.DelayQueueIntakeAutoConfiguration;
import io.delayqueue.autoconfigure.DelayQueueListenerAutoConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.kafka.core.ConsumerFactory;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests that an intake which cannot work, or would never end, fails the start. */
class IntakeConfigurationTests {

    private final ApplicationContextRunner application = new ApplicationContextRunner()
        .withConfiguration(AutoConfigurations.of(DelayQueueAutoConfiguration.class,
                DelayQueueListenerAutoConfiguration.class, DelayQueueIntakeAutoConfiguration.class))
        .withPropertyValues("delayqueue.store=memory");

    @Test
    void withoutIntakeNothingIsNeeded() {
        this.application.withClassLoader(new FilteredClassLoader(ConsumerFactory.class))
            .run((context) -> assertThat(context).hasNotFailed());
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

}
