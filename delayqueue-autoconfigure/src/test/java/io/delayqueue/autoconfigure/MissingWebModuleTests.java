package io.delayqueue.autoconfigure;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the warning about an HTTP API or a dashboard whose jar is not there. */
@ExtendWith(OutputCaptureExtension.class)
class MissingWebModuleTests {

    private final ApplicationContextRunner application = new ApplicationContextRunner()
        .withConfiguration(AutoConfigurations.of(DelayQueueAutoConfiguration.class,
                DelayQueueListenerAutoConfiguration.class, DelayQueueStartChecksAutoConfiguration.class))
        .withPropertyValues("delayqueue.store=memory");

    @ParameterizedTest
    @ValueSource(strings = { "delayqueue.web.api.enabled", "delayqueue.web.dashboard.enabled" })
    void namesThePropertyAndTheDependency(String property, CapturedOutput output) {
        this.application.withPropertyValues(property + "=true").run((context) -> assertThat(context).hasNotFailed());

        assertThat(output).contains(property + " is set", "Add the dependency delayqueue-web");
    }

    @Test
    void logsNothingIfNeitherIsEnabled(CapturedOutput output) {
        this.application.withPropertyValues("delayqueue.web.api.enabled=false")
            .run((context) -> assertThat(context).hasNotFailed());

        assertThat(output).doesNotContain("delayqueue-web");
    }

}
