package io.delayqueue.web.autoconfigure;

import java.io.IOException;
import java.util.Map;

import io.delayqueue.fixtures.application.RuntimeHintsFixture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.server.servlet.context.AnnotationConfigServletWebServerApplicationContext;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the hints of the HTTP API and the dashboard in a whole application. */
@Tag("server")
class DelayQueueWebRuntimeHintsTests {

    private static final String API = "delayqueue.web.api.enabled";

    private static final String DASHBOARD = "delayqueue.web.dashboard.enabled";

    private static final String WEB = "io/delayqueue/web/";

    @Test
    void everyFileOfTheDashboardIsInTheImageIfEnabled() throws IOException {
        RuntimeHints hints = hints(Map.of(DASHBOARD, "true"));

        assertThat(RuntimeHintsFixture.files(WEB + "dashboard/static/", "**/*.*"))
            .contains(WEB + "dashboard/static/index.html", WEB + "dashboard/static/lib/directives/repeat.js")
            .allMatch(RuntimeHintsFixture.in(hints));
        assertThat(WEB + "api/openapi.json").matches(RuntimeHintsFixture.in(hints).negate());
    }

    @Test
    void theDescriptionOfTheApiIsInTheImageIfEnabled() {
        RuntimeHints hints = hints(Map.of(API, "true"));

        assertThat(WEB + "api/openapi.json").matches(RuntimeHintsFixture.in(hints));
        assertThat(WEB + "dashboard/static/index.html").matches(RuntimeHintsFixture.in(hints).negate());
    }

    private static RuntimeHints hints(Map<String, Object> properties) {
        return RuntimeHintsFixture.of(new AnnotationConfigServletWebServerApplicationContext(), Application.class,
                properties);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

    }

}
