package io.delayqueue.web;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.stream.Stream;

import io.delayqueue.web.consume.ApiServer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/** Checks that no other spelling of a path or a method bypasses the authorities. */
@Tag("server")
class PathTricksTests {

    private static final String MESSAGE = "/queues/tricks/messages/by-id?id=held";

    private static final HttpClient client = HttpClient.newHttpClient();

    private static ApiServer server;

    @BeforeAll
    static void start() {
        server = ApiServer.start("delayqueue.web.dashboard.enabled=true");
        assertThat(server.call("send", "PUT", ApiServer.PATH + MESSAGE, "{\"payload\": 1, \"delayMillis\": 600000}")
            .status()).isEqualTo(201);
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    static Stream<Arguments> spellings() {
        List<String> paths = List.of("/delayqueue/api/v1/queues/tricks/messages/by-id;x=1?id=held",
                "/delayqueue/api/v1;x/queues/tricks/messages/by-id?id=held",
                "/delayqueue/api/v1//queues/tricks/messages/by-id?id=held",
                "//delayqueue/api/v1/queues/tricks/messages/by-id?id=held",
                "/delayqueue/api/v1/queues/tricks/messages/by-id/?id=held",
                "/delayqueue/api/v1/queues/tricks%2Fmessages/by-id?id=held",
                "/delayqueue/api/v1/queues/tricks/%6Dessages/by-id?id=held",
                "/delayqueue/%61pi/v1/queues/tricks/messages/by-id?id=held",
                "/delayqueue/%2561pi/v1/queues/tricks/messages/by-id?id=held",
                "/delayqueue/api/v1/queues/x/../tricks/messages/by-id?id=held",
                "/delayqueue/api/v1/queues/x/%2e%2e/tricks/messages/by-id?id=held",
                "/delayqueue/API/v1/queues/tricks/messages/by-id?id=held",
                "/delayqueue/api/v1/queues/tricks/messages/by-id%00?id=held",
                "/delayqueue/api/v1/queues/tricks/messages/by-id.json?id=held",
                "/delayqueue/data/queues/tricks/messages/by-id;x=1?id=held",
                "/delayqueue/data//queues/tricks/messages/by-id?id=held",
                "/delayqueue/x/../data/queues/tricks/messages/by-id?id=held",
                "/delayqueue/%64ata/queues/tricks/messages/by-id?id=held",
                "/delayqueue/dat%61/queues/tricks/messages/by-id/?id=held");
        return paths.stream()
            .flatMap((path) -> Stream.of(arguments(path, "view"), arguments(path, "none"), arguments(path, null)));
    }

    @ParameterizedTest
    @MethodSource("spellings")
    void anotherSpellingOfThePathOpensNoRoute(String path, @Nullable String user) {
        assertThat(ask("DELETE", path, user)).isBetween(400, 499);
        assertStillThere();
    }

    @ParameterizedTest
    @ValueSource(strings = { "/delayqueue/api/v1", "/delayqueue/data" })
    void anotherMethodOpensNoRoute(String base) {
        for (String method : List.of("HEAD", "OPTIONS", "PROPFIND", "delete")) {
            assertThat(ask(method, base + MESSAGE, "send")).isBetween(400, 499);
        }
        for (String method : List.of("GET", "POST")) {
            assertThat(ask(method, base + MESSAGE + "&_method=DELETE", "operate")).isBetween(400, 499);
        }
        assertStillThere();
    }

    /** Proves that the rejections above are due to the spelling. */
    @Test
    void theExactPathIsOpenToPermittedCallers() {
        String other = MESSAGE.replace("held", "other");
        server.call("send", "PUT", ApiServer.PATH + other, "{\"payload\": 1, \"delayMillis\": 600000}");

        assertThat(ask("DELETE", ApiServer.PATH + other, "operate")).isEqualTo(200);
        assertThat(server.operations().find("tricks", "other")).isEmpty();
    }

    /**
     * Sends the path unchanged, and does not check the response against the description.
     */
    private static int ask(String method, String path, @Nullable String user) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
            .method(method, BodyPublishers.noBody())
            .header("X-HTTP-Method-Override", "DELETE");
        if (user != null) {
            request.header("Authorization", ApiServer.basic(user));
        }
        return client.sendAsync(request.build(), BodyHandlers.ofString()).join().statusCode();
    }

    private static void assertStillThere() {
        assertThat(server.operations().find("tricks", "held")).isPresent();
    }

}
