package io.delayqueue.web.api;

import java.net.URI;
import java.util.List;

import io.delayqueue.web.consume.ApiServer;
import io.delayqueue.web.consume.ApiServer.Reply;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests locations, missing resources, and the route that metrics of requests name. */
@Tag("server")
class HttpConventionsTests {

    private static final String QUEUES = ApiServer.PATH + "/queues/";

    private static ApiServer server;

    @BeforeAll
    static void start() {
        server = ApiServer.start(Measured.class, "delayqueue.web.dashboard.enabled=true");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    /** Relative, because a proxy may have changed the path. */
    @ParameterizedTest
    @CsvSource({ "POST, located/messages, a/b=c, messages/by-id?id=a%2Fb%3Dc",
            "PUT, located/messages/by-id?id=x~1, x~1, by-id?id=x~1" })
    void theLocationOfANewMessageIsItsAddress(String method, String path, String id, String location) {
        Reply sent = server.call(ApiServer.ALL, method, QUEUES + path,
                "{\"payload\": 1, \"id\": \"%s\", \"delayMillis\": 60000}".formatted(id));

        assertThat(sent.status()).isEqualTo(201);
        assertThat(sent.header("Location")).isEqualTo(location);
        Reply found = server.get(URI.create(QUEUES + path).resolve(location).toString());
        assertThat(found.json().path("id").asString()).isEqualTo(id);
        assertThat(server.call(ApiServer.ALL, method, QUEUES + path, "{\"payload\": 1, \"id\": \"%s\"}".formatted(id))
            .header("Location")).as("kept").isEmpty();
    }

    @ParameterizedTest
    @CsvSource({ "GET, unknown", "DELETE, unknown", "GET, unknown/due-counts", "GET, unknown/messages",
            "GET, unknown/dead-letters", "GET, unknown/messages/by-id?id=1", "DELETE, unknown/messages/by-id?id=1",
            "GET, unknown/dead-letters/by-id?deadLetterId=1~1", "DELETE, unknown/dead-letters/by-id?deadLetterId=1~1" })
    void missingQueuesMessagesAndDeadLettersReturn404(String method, String path) {
        Reply reply = server.call(ApiServer.ALL, method, QUEUES + path, null);

        assertThat(reply.status()).isEqualTo(404);
        assertThat(reply.problem()).isEqualTo("not-found");
        assertThat(reply.detail()).contains("'unknown'");
    }

    /** Callers forget the version. */
    @Test
    void aPathWithoutARouteReturnsTheBasePath() {
        Reply reply = server.get("/delayqueue/api/queues");

        assertThat(reply.problem()).isEqualTo("no-route");
        assertThat(reply.detail()).endsWith("all routes are below /delayqueue/api/v1");
    }

    /** A queue exists while it is in the list of queues, or holds or is anything. */
    @Test
    void anEmptyQueueIsFoundUntilItIsForgotten() {
        server.call(ApiServer.ALL, "PUT", QUEUES + "emptied/messages/by-id?id=1", "{\"payload\": 1}");
        server.call(ApiServer.ALL, "DELETE", QUEUES + "emptied/messages/by-id?id=1", null);

        for (String path : List.of("", "/due-counts", "/messages", "/dead-letters")) {
            assertThat(server.get(QUEUES + "emptied" + path).status()).as(path).isEqualTo(200);
        }
        assertThat(server.call(ApiServer.ALL, "DELETE", QUEUES + "emptied", null).status()).isEqualTo(204);
        assertThat(server.get(QUEUES + "emptied").status()).isEqualTo(404);
        assertThat(server.call(ApiServer.ALL, "PUT", QUEUES + "emptied/pause", "{}").problem()).isEqualTo("not-found");
        assertThat(server.get(QUEUES + "emptied").status()).as("not paused into being").isEqualTo(404);
        server.operations().pause("emptied");
        assertThat(server.get(QUEUES + "emptied").status()).as("paused").isEqualTo(200);
        assertThat(server.get(QUEUES + "emptied/messages").status()).as("paused").isEqualTo(200);
    }

    @Test
    void aConsumerMayWaitForAQueueThatDoesNotExistYet() {
        assertThat(server.post(QUEUES + "not-there-yet/claims", "{}").status()).isEqualTo(200);
    }

    @Test
    void metricsOfRequestsNameTheRoute() {
        server.post(QUEUES + "measured/messages", "{\"payload\": 1}");
        server.get(QUEUES + "measured/messages/by-id?id=none");
        server.post(QUEUES + "measured/claims", "{}");
        server.get("/delayqueue/data/queues/measured");
        server.get("/delayqueue/main.js");

        for (String uri : List.of(QUEUES + "{queue}/messages", QUEUES + "{queue}/messages/by-id",
                QUEUES + "{queue}/claims", "/delayqueue/data/queues/{queue}", "/delayqueue/{*file}")) {
            await().untilAsserted(() -> assertThat(
                    server.bean(MeterRegistry.class).find("http.server.requests").tag("uri", uri).timer())
                .as(uri)
                .isNotNull());
        }
    }

    /** An unlimited number of paths would be an unlimited number of time series. */
    @ParameterizedTest
    @ValueSource(strings = { "/nothing", "/queues/a/b/c" })
    void metricsOfOtherPathsNameNone(String path) {
        server.get(ApiServer.PATH + path);

        assertThat(server.bean(MeterRegistry.class).find("http.server.requests").timers())
            .noneMatch((timer) -> String.valueOf(timer.getId().getTag("uri")).contains(path));
    }

    @Configuration(proxyBeanMethods = false)
    @Import(ApiServer.Application.class)
    static class Measured {

        @Bean
        MeterRegistry meters() {
            return new SimpleMeterRegistry();
        }

    }

}
