package io.delayqueue.autoconfigure;

import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;

import io.delayqueue.DelayedListener;
import io.delayqueue.PauseResult;
import io.delayqueue.actuator.DelayQueueEndpoint;
import io.delayqueue.admin.DueForecast;
import io.delayqueue.admin.Finding;
import io.delayqueue.admin.IntegrityReport;
import io.delayqueue.admin.NodeStatus;
import io.delayqueue.admin.QueueOverview;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aot.generate.ClassNameGenerator;
import org.springframework.aot.generate.DefaultGenerationContext;
import org.springframework.aot.generate.InMemoryGeneratedFiles;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.server.servlet.context.AnnotationConfigServletWebServerApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;
import org.springframework.javapoet.ClassName;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;

/** The hints of a whole application that is processed ahead of time. */
@Tag("server")
class DelayQueueRuntimeHintsTests {

    private static final String API = "delayqueue.web.api.enabled";

    private static final String DASHBOARD = "delayqueue.web.dashboard.enabled";

    private static final String EXPOSED = "management.endpoints.web.exposure.include";

    private static final String WEB = "io/delayqueue/web/";

    @Test
    void everyScriptIsInTheImage() throws IOException {
        assertThat(files("io/delayqueue/redis/", "*.lua")).hasSizeGreaterThan(10).allMatch(in(hints(Map.of())));
    }

    @Test
    void everyFileOfTheDashboardIsInTheImageIfItIsOn() throws IOException {
        RuntimeHints hints = hints(Map.of(DASHBOARD, "true"));

        assertThat(files(WEB + "dashboard/static/", "**/*.*"))
            .contains(WEB + "dashboard/static/index.html", WEB + "dashboard/static/lib/directives/repeat.js")
            .allMatch(in(hints));
        assertThat(WEB + "api/openapi.json").matches(in(hints).negate());
    }

    @Test
    void theDescriptionOfTheApiIsInTheImageIfItIsOn() {
        RuntimeHints hints = hints(Map.of(API, "true"));

        assertThat(WEB + "api/openapi.json").matches(in(hints));
        assertThat(WEB + "dashboard/static/index.html").matches(in(hints).negate());
    }

    /** Those of the operations that return an object of more than one type, too. */
    @ParameterizedTest
    @ValueSource(strings = { "Overview", "Failure", "Queue", "Listener", "Letters", "Letter", "Done", "Count" })
    void theViewsOfTheEndpointCanBeWritten(String view) throws ClassNotFoundException {
        assertThat(view(view)).matches(writable(hints(Map.of(EXPOSED, "delayqueue"))));
    }

    @ParameterizedTest
    @ValueSource(classes = { QueueOverview.class, DueForecast.class, NodeStatus.class, PauseResult.class,
            IntegrityReport.class, Finding.class })
    void theValuesThatTheEndpointReturnsCanBeWritten(Class<?> value) {
        assertThat(value).matches(writable(hints(Map.of(EXPOSED, "delayqueue"))));
    }

    @Test
    void noViewOfTheEndpointIsForgottenHere() throws ClassNotFoundException {
        Class<?> views = ClassUtils.forName(DelayQueueEndpoint.class.getPackageName() + ".EndpointViews", null);

        assertThat(views.getDeclaredClasses()).extracting(Class::getSimpleName)
            .containsExactlyInAnyOrder("Overview", "Failure", "Queue", "Listener", "Letters", "Letter", "Done",
                    "Count");
    }

    @Test
    void handlersAndTheirPayloadsAreReachedByReflection() {
        RuntimeHints hints = hints(Map.of());

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

    private static Predicate<String> in(RuntimeHints hints) {
        return (file) -> RuntimeHintsPredicates.resource().forResource(file).test(hints);
    }

    private static List<String> files(String directory, String pattern) throws IOException {
        List<String> names = new ArrayList<>();
        for (Resource file : new PathMatchingResourcePatternResolver()
            .getResources("classpath*:" + directory + pattern)) {
            String url = file.getURL().toString();
            names.add(url.substring(url.lastIndexOf(directory)));
        }
        return names;
    }

    private static RuntimeHints hints(Map<String, Object> properties) {
        AnnotationConfigServletWebServerApplicationContext context = new AnnotationConfigServletWebServerApplicationContext();
        context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("test", properties));
        context.register(Application.class);
        DefaultGenerationContext generation = new DefaultGenerationContext(
                new ClassNameGenerator(ClassName.get(Application.class)), new InMemoryGeneratedFiles());
        try (context) {
            new ApplicationContextAotGenerator().processAheadOfTime(context, generation);
        }
        return generation.getRuntimeHints();
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
