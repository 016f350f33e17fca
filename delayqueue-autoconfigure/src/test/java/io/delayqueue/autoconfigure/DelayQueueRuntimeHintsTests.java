package io.delayqueue.autoconfigure;

import java.io.IOException;
import java.lang.reflect.Method;
import java.util.Arrays;

import io.delayqueue.DelayedListener;
import org.junit.jupiter.api.Test;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.annotation.ReflectiveRuntimeHintsRegistrar;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;

/** What a native image has to know. */
class DelayQueueRuntimeHintsTests {

    private final RuntimeHints hints = new RuntimeHints();

    @Test
    void everyScriptIsThere() throws IOException {
        new DelayQueueRuntimeHints().registerHints(this.hints, null);

        Resource[] scripts = new PathMatchingResourcePatternResolver()
            .getResources("classpath*:io/delayqueue/redis/*.lua");
        assertThat(scripts).hasSizeGreaterThan(10)
            .allMatch((script) -> RuntimeHintsPredicates.resource()
                .forResource("io/delayqueue/redis/" + script.getFilename())
                .test(this.hints));
    }

    @Test
    void theAutoConfigurationBringsTheHints() {
        assertThat(DelayQueueAutoConfiguration.class.getAnnotation(ImportRuntimeHints.class).value())
            .containsExactly(DelayQueueRuntimeHints.class);
    }

    @Test
    void handlersAndTheirPayloadsAreReachedByReflection() {
        new ReflectiveRuntimeHintsRegistrar().registerRuntimeHints(this.hints, Handler.class);

        Method method = ReflectionUtils.findMethod(Handler.class, "on", Order.class);
        assertThat(RuntimeHintsPredicates.reflection().onMethodInvocation(method)).accepts(this.hints);
        assertThat(Arrays.stream(Order.class.getDeclaredConstructors()))
            .allMatch((constructor) -> RuntimeHintsPredicates.reflection()
                .onConstructorInvocation(constructor)
                .test(this.hints));
    }

    static class Handler {

        @DelayedListener("orders")
        void on(Order order) {
        }

    }

    /** A payload. */
    record Order(int number) {
    }

}
