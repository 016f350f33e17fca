package io.delayqueue.autoconfigure;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.template.DelayQueueTemplate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/** Checks the start of an application that injects the queue and has switched it off. */
@ExtendWith(OutputCaptureExtension.class)
class DisabledQueueTests {

    private static final String DISABLED = "delayqueue.enabled=false";

    @ParameterizedTest
    @ValueSource(classes = { NeedsTemplate.class, NeedsOperations.class, NeedsInspector.class, NeedsRegistry.class })
    void theFailedStartNamesThePropertyThatDisabledTheQueue(Class<?> application, CapturedOutput output) {
        assertThatException().isThrownBy(() -> start(application, DISABLED));

        assertThat(output).contains("APPLICATION FAILED TO START")
            .containsPattern("Parameter 0 of method sender in \\S+ required a bean of type 'io\\.delayqueue\\.\\S+', "
                    + "but delayqueue\\.enabled is false")
            .contains("Remove delayqueue.enabled or set it to true");
    }

    @Test
    void otherMissingBeansAreExplainedByBoot(CapturedOutput output) {
        assertThatException().isThrownBy(() -> start(NeedsSomethingElse.class, DISABLED));

        assertThat(output).contains("Consider defining a bean of type 'java.lang.StringBuilder'")
            .doesNotContain("delayqueue.enabled");
    }

    @Test
    void theBeansOfAnEnabledQueueAreNotExplainedByTheProperty(CapturedOutput output) {
        assertThatException().isThrownBy(() -> start(NeedsTemplate.class,
                "spring.autoconfigure.exclude=" + DelayQueueAutoConfiguration.class.getName()));

        assertThat(output).contains("APPLICATION FAILED TO START").doesNotContain("delayqueue.enabled");
    }

    private static void start(Class<?> application, String property) {
        new SpringApplicationBuilder(application).web(WebApplicationType.NONE)
            .registerShutdownHook(false)
            .properties("spring.main.banner-mode=off", "spring.main.log-startup-info=false", "delayqueue.store=memory")
            .run("--" + property)
            .close();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class NeedsTemplate {

        @Bean
        Object sender(DelayQueueTemplate queue) {
            return queue.toString();
        }

    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class NeedsOperations {

        @Bean
        Object sender(DelayQueueOperations queue) {
            return queue.toString();
        }

    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class NeedsInspector {

        @Bean
        Object sender(DelayQueueInspector queue) {
            return queue.toString();
        }

    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class NeedsRegistry {

        @Bean
        Object sender(DelayedListenerRegistry queue) {
            return queue.toString();
        }

    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class NeedsSomethingElse {

        @Bean
        Object sender(StringBuilder text) {
            return text.toString();
        }

    }

}
