package io.delayqueue.autoconfigure;

import java.util.List;
import java.util.Map;

import io.delayqueue.DelayedListener;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.env.SystemEnvironmentPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/** Checks that settings that have no effect are logged at the start. */
@ExtendWith(OutputCaptureExtension.class)
class UnusedQueueSettingsCheckTests {

    private final ApplicationContextRunner application = new ApplicationContextRunner()
        .withConfiguration(AutoConfigurations.of(DelayQueueAutoConfiguration.class,
                DelayQueueListenerAutoConfiguration.class, DelayQueueStartChecksAutoConfiguration.class))
        .withPropertyValues("delayqueue.store=memory");

    private final ApplicationContextRunner listening = this.application.withBean(Orders.class);

    @Test
    void settingsOfAQueueWithoutAListenerAreLoggedWithTheProbableName(CapturedOutput output) {
        this.listening.withPropertyValues("delayqueue.queues.order.concurrency=3", "delayqueue.queues.order.lease=1m")
            .run((context) -> assertThat(lines(output)).containsExactly("No listener of this application handles queue "
                    + "'order', so the settings in delayqueue.queues for it concern no listener. Did you mean "
                    + "'orders'? If the queue is read with receive or over HTTP, or handled elsewhere, name it in "
                    + "delayqueue.known-queues"));
    }

    @ParameterizedTest
    @ValueSource(strings = { "delayqueue.queues.orders.concurrency=3", "delayqueue.queues.bills.partitions=4",
            "delayqueue.queues[billing.reminders].max-attempts=4", "delayqueue.queues.orders.maxAttempts=4",
            "delayqueue.queues.orders.backoff.max=1m" })
    void settingsOfAListenerAndPartitionsAreNotLogged(String property, CapturedOutput output) {
        this.listening.withPropertyValues(property).run((context) -> assertThat(lines(output)).isEmpty());
    }

    @Test
    void aQueueThatIsNamedAsKnownIsNotLogged(CapturedOutput output) {
        this.listening.withPropertyValues("delayqueue.queues.bills.lease=1m", "delayqueue.known-queues=bills")
            .run((context) -> assertThat(lines(output)).isEmpty());
    }

    @Test
    void anApplicationThatOnlySendsIsNotWarnedAboutOtherQueues(CapturedOutput output) {
        this.application.withPropertyValues("delayqueue.queues.orders.concurrency=3")
            .run((context) -> assertThat(lines(output)).isEmpty());
    }

    @ParameterizedTest
    @CsvSource({ "delayqueue.queues.billing.reminders.concurrency, concurrency",
            "delayqueue.queues.billing.reminders.max-attempts, max-attempts",
            "delayqueue.queues.billing.reminders.maxAttempts, max-attempts",
            "delayqueue.queues.billing.reminders.backoff.max, backoff.max" })
    void aDottedNameWithoutBracketsIsLoggedAsItHasToBeWritten(String property, String setting, CapturedOutput output) {
        this.application.withPropertyValues(property + "=5").run((context) -> {
            assertThat(context).hasNotFailed();
            assertThat(lines(output)).singleElement()
                .asString()
                .startsWith("Property 'delayqueue.queues.billing.reminders.")
                .endsWith((" is ignored, as a queue name with a dot needs brackets: write "
                        + "delayqueue.queues[billing.reminders].%s, or \"[billing.reminders]\" with the quotes in YAML")
                    .formatted(setting));
        });
    }

    @Test
    void severalSettingsOfADottedNameAreOneLine(CapturedOutput output) {
        this.application
            .withPropertyValues("delayqueue.queues.billing.reminders.concurrency=5",
                    "delayqueue.queues.billing.reminders.lease=1m")
            .run((context) -> assertThat(lines(output)).hasSize(1));
    }

    @Test
    void aMistypedSettingIsLogged(CapturedOutput output) {
        this.listening.withPropertyValues("delayqueue.queues.orders.max-atempts=5", "delayqueue.queues.orders.x=y")
            .run((context) -> assertThat(lines(output)).containsExactly(
                    "Property 'delayqueue.queues.orders.max-atempts' is ignored, as queues have no setting "
                            + "'max-atempts'. Did you mean 'max-attempts'?",
                    "Property 'delayqueue.queues.orders.x' is ignored, as queues have no setting 'x'"));
    }

    @ParameterizedTest
    @CsvSource({ "delayqueue.forward.billing.reminders.to, queue, delayqueue.forward[billing.reminders].to",
            "delayqueue.intake.kafka.billing.reminders.to, topic, delayqueue.intake.kafka[billing.reminders].to",
            "delayqueue.intake.rabbit.billing.reminders.to, queue, delayqueue.intake.rabbit[billing.reminders].to" })
    void aForwardOrAnIntakeThatIsIgnoredIsLogged(String property, String kind, String correct, CapturedOutput output) {
        this.application.withPropertyValues(property + "=orders").run((context) -> {
            assertThat(context).hasNotFailed();
            assertThat(lines(output))
                .containsExactly(("Property '%s' is ignored, as a %s name with a dot needs brackets: write %s, or "
                        + "\"[billing.reminders]\" with the quotes in YAML")
                    .formatted(property, kind, correct));
        });
    }

    @ParameterizedTest
    @ValueSource(strings = { "delayqueue.forward[billing.reminders].timeout=5s",
            "delayqueue.intake.kafka[billing.reminders].group-id=bills",
            "delayqueue.intake.rabbit.late.concurrency=2" })
    void settingsOfAForwardOrAnIntakeAreNotLogged(String property, CapturedOutput output) {
        this.application.withPropertyValues(property).run((context) -> assertThat(lines(output)).isEmpty());
    }

    @Test
    void aMistypedSettingOfAForwardIsLogged(CapturedOutput output) {
        this.application.withPropertyValues("delayqueue.forward.orders.unconfirmd=true")
            .run((context) -> assertThat(lines(output))
                .containsExactly("Property 'delayqueue.forward.orders.unconfirmd' is ignored, as forwards have no "
                        + "setting 'unconfirmd'. Did you mean 'unconfirmed'?"));
    }

    /** There MAX_ATTEMPTS stands for max-attempts, and could as well be max.attempts. */
    @Test
    void environmentVariablesAreNotGuessedAt(CapturedOutput output) {
        this.listening
            .withInitializer((context) -> context.getEnvironment()
                .getPropertySources()
                .addFirst(new SystemEnvironmentPropertySource("test-systemEnvironment",
                        Map.of("DELAYQUEUE_QUEUES_ORDERS_MAX_ATTEMPTS", "7"))))
            .run((context) -> {
                assertThat(context.getBean(DelayQueueProperties.class).queues().get("orders").maxAttempts())
                    .isEqualTo(7);
                assertThat(lines(output)).isEmpty();
            });
    }

    private static List<String> lines(CapturedOutput output) {
        return output.getOut()
            .lines()
            .filter((line) -> line.contains("UnusedQueueSettingsCheck - "))
            .map((line) -> line.split("UnusedQueueSettingsCheck - ")[1])
            .toList();
    }

    static class Orders {

        @DelayedListener({ "orders", "billing.reminders" })
        void on(String payload) {
        }

    }

}
