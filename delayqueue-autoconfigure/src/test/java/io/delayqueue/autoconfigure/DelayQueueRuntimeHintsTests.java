package io.delayqueue.autoconfigure;

import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;

import io.delayqueue.DelayedListener;
import io.delayqueue.PauseResult;
import io.delayqueue.ScheduleSkip;
import io.delayqueue.actuator.DelayQueueEndpoint;
import io.delayqueue.admin.DueForecast;
import io.delayqueue.admin.Finding;
import io.delayqueue.admin.IntegrityReport;
import io.delayqueue.admin.NodeStatus;
import io.delayqueue.admin.QueueOverview;
import io.delayqueue.fixtures.application.RuntimeHintsFixture;
import io.delayqueue.forward.ExpressionRoot;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;

/** Checks the hints of a whole application that is processed ahead of time. */
@Tag("server")
class DelayQueueRuntimeHintsTests {

    private static final String EXPOSED = "management.endpoints.web.exposure.include";

    @Test
    void everyScriptIsInTheImage() throws IOException {
        RuntimeHints hints = RuntimeHintsFixture.of(Application.class, Map.of());
        assertThat(RuntimeHintsFixture.files("io/delayqueue/redis/", "*.lua")).hasSizeGreaterThan(10)
            .allMatch(RuntimeHintsFixture.in(hints));
        assertThat(RuntimeHintsFixture.files("io/delayqueue/journal/", "schema-*.sql")).hasSize(4)
            .allMatch(RuntimeHintsFixture.in(hints));
    }

    @Test
    void theExpressionOfAKeyReadsTheMessage() {
        assertThat(RuntimeHintsPredicates.reflection()
            .onType(ExpressionRoot.class)
            .withMemberCategory(MemberCategory.INVOKE_PUBLIC_METHODS))
            .accepts(RuntimeHintsFixture.of(Application.class, Map.of()));
    }

    /** Those of the operations that return an object of more than one type, too. */
    @ParameterizedTest
    @ValueSource(strings = { "Overview", "Failure", "Queue", "Listener", "DeadLetters", "DeadLetterView", "Schedules",
            "ScheduleView", "Done", "Count" })
    void theViewsOfTheEndpointCanBeWritten(String view) throws ClassNotFoundException {
        assertThat(view(view))
            .matches(writable(RuntimeHintsFixture.of(Application.class, Map.of(EXPOSED, "delayqueue"))));
    }

    @ParameterizedTest
    @ValueSource(classes = { QueueOverview.class, DueForecast.class, NodeStatus.class, PauseResult.class,
            IntegrityReport.class, Finding.class, ScheduleSkip.class })
    void theValuesThatTheEndpointReturnsCanBeWritten(Class<?> value) {
        assertThat(value).matches(writable(RuntimeHintsFixture.of(Application.class, Map.of(EXPOSED, "delayqueue"))));
    }

    @Test
    void everyViewOfTheEndpointIsTestedHere() throws ClassNotFoundException {
        Class<?> views = ClassUtils.forName(DelayQueueEndpoint.class.getPackageName() + ".EndpointViews", null);

        assertThat(views.getDeclaredClasses()).extracting(Class::getSimpleName)
            .containsExactlyInAnyOrder("Overview", "Failure", "Queue", "Listener", "DeadLetters", "DeadLetterView",
                    "Schedules", "ScheduleView", "Done", "Count");
    }

    @Test
    void handlersAndTheirPayloadsAreReachedByReflection() {
        RuntimeHints hints = RuntimeHintsFixture.of(Application.class, Map.of());

        Method method = ReflectionUtils.findMethod(Handler.class, "on", Order.class);
        assertThat(RuntimeHintsPredicates.reflection().onMethodInvocation(method)).accepts(hints);
        assertThat(Order.class).matches(writable(hints));
        assertThat(Arrays.stream(Order.class.getDeclaredConstructors())).allMatch(
                (constructor) -> RuntimeHintsPredicates.reflection().onConstructorInvocation(constructor).test(hints));
    }

    private static Class<?> view(String name) throws ClassNotFoundException {
        return ClassUtils.forName(DelayQueueEndpoint.class.getPackageName() + ".EndpointViews$" + name, null);
    }

    private static Predicate<Class<?>> writable(RuntimeHints hints) {
        return (type) -> Stream.of(type.getRecordComponents())
            .map(RecordComponent::getAccessor)
            .allMatch((accessor) -> RuntimeHintsPredicates.reflection().onMethodInvocation(accessor).test(hints));
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        Handler handler() {
            return new Handler();
        }

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
