package io.delayqueue.sample;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;

import io.delayqueue.DelayQueueOperations;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.web.client.RestClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Runs the steps of the README with the profile that opens the application to its
 * operators.
 */
@ExtendWith(EmbeddedRedisRequired.class)
@ActiveProfiles("operations")
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = { "sample.payment-window=4s", "sample.receipt-delay=10ms",
                "delayqueue.queues.receipt.backoff.initial=50ms", "delayqueue.metrics.interval=100ms" })
@Tag("server")
class OperationsProfileIntegrationTests {

    private static final JsonMapper JSON = JsonMapper.shared();

    private static final String API = "/delayqueue/api/v1";

    private static final User NOBODY = new User("nobody", null);

    private static final User VIEWER = new User("viewer", "may-view");

    private static final User OPERATOR = new User("operator", "may-act");

    private static final User SENDER = new User("sender", "may-send");

    private static final User CONSUMER = new User("consumer", "may-consume");

    @LocalServerPort
    private int port;

    @Autowired
    private DelayQueueOperations delayQueue;

    @AfterEach
    void resumeOrders() {
        this.delayQueue.resume(Queues.ORDER_TIMEOUT);
    }

    @Test
    void messageOfAnOrderIsSeenWhileItWaitsAndGoneWhenItHasFired() {
        this.delayQueue.pause(Queues.ORDER_TIMEOUT);
        String id = place("none");
        String message = API + "/queues/order-timeout/messages/by-id?id=" + id;

        JsonNode masked = json(get(VIEWER, message));
        JsonNode open = json(get(OPERATOR, message));
        this.delayQueue.resume(Queues.ORDER_TIMEOUT);

        assertThat(masked.get("state").asString()).isEqualTo("SCHEDULED");
        assertThat(masked.has("payload")).isFalse();
        assertThat(open.get("payload").get("orderId").asString()).isEqualTo(id);
        await().until(() -> get(VIEWER, message).getStatusCode().value() == 404);
        await().until(() -> state(id).equals("CANCELLED"));
    }

    @Test
    void messageSentOverHttpIsHandled() {
        String queue = API + "/queues/order-timeout";
        exchange(HttpMethod.PUT, OPERATOR, queue + "/pause", Map.of());
        String id = place("none");
        // Otherwise the timeout of the order itself would cancel it.
        String timeout = queue + "/messages/by-id?id=" + id;
        JsonNode cancelled = json(exchange(HttpMethod.DELETE, OPERATOR, timeout, Map.of()));

        ResponseEntity<String> answer = post(SENDER, queue + "/messages",
                Map.of("payload", Map.of("orderId", id), "delayMillis", 10));
        exchange(HttpMethod.DELETE, OPERATOR, queue + "/pause", Map.of());

        assertThat(cancelled.get("result").asString()).isEqualTo("CANCELLED");
        assertThat(answer.getStatusCode().value()).isEqualTo(201);
        await().until(() -> state(id).equals("CANCELLED"));
    }

    @Test
    void inspectionByASenderReturnsTheExampleOfTheReadme() throws IOException {
        ResponseEntity<String> answer = get(SENDER, API + "/queues/order-timeout");

        assertThat(answer.getStatusCode().value()).isEqualTo(403);
        assertThat(Files.readString(Path.of("README.md"))).contains("\n" + answer.getBody() + "\n");
    }

    @Test
    void messagesOfAPausedQueueWaitUntilItIsResumed() {
        String queue = API + "/queues/order-timeout";
        JsonNode paused = json(exchange(HttpMethod.PUT, OPERATOR, queue + "/pause", Map.of()));
        String id = place("none");
        await().until(() -> json(get(VIEWER, queue)).get("due").asInt() > 0);
        String whilePaused = state(id);

        JsonNode resumed = json(exchange(HttpMethod.DELETE, OPERATOR, queue + "/pause", Map.of()));
        await().until(() -> state(id).equals("CANCELLED"));

        assertThat(paused.get("alreadyPaused").asBoolean()).isFalse();
        assertThat(whilePaused).isEqualTo("OPEN");
        assertThat(resumed.get("result").asString()).isEqualTo("RESUMED");
    }

    @Test
    void endpointShowsQueuesToViewersAndPausesListenersForOperators() {
        String listener = "/actuator/delayqueue/listeners/"
                + json(get(VIEWER, "/actuator/delayqueue")).get("listeners").get(0).get("id").asString();

        int ofTheViewer = post(VIEWER, listener, Map.of("action", "pause")).getStatusCode().value();
        JsonNode paused = json(post(OPERATOR, listener, Map.of("action", "pause")));
        JsonNode resumed = json(post(OPERATOR, listener, Map.of("action", "resume")));
        int ofAForeignPage = http(OPERATOR).post()
            .uri(listener)
            .header(HttpHeaders.ORIGIN, "http://elsewhere.example")
            .contentType(MediaType.APPLICATION_JSON)
            .body(Map.of("action", "pause"))
            .retrieve()
            .toBodilessEntity()
            .getStatusCode()
            .value();

        assertThat(ofTheViewer).isEqualTo(403);
        assertThat(paused.get("paused").asBoolean()).isTrue();
        assertThat(resumed.get("paused").asBoolean()).isFalse();
        assertThat(ofAForeignPage).isEqualTo(403);
    }

    @Test
    void endpointShowsTheStatisticsThatTheReadmeShows() throws IOException {
        JsonNode listener = json(get(VIEWER, "/actuator/delayqueue")).get("listeners").get(0);
        String statistics = "\"statistics\":" + listener.get("statistics");

        assertThat(Files.readString(Path.of("README.md")).replaceAll(":\\d+", ":0"))
            .contains(statistics.replaceAll(":\\d+", ":0"));
    }

    @Test
    void deadLetterIsRedrivenOverHttpAndTheAuditNamesThePrincipal() {
        this.delayQueue.pause(Queues.ORDER_TIMEOUT);
        String id = place("poison-receipt");
        post(NOBODY, "/orders/" + id + "/pay", Map.of());
        this.delayQueue.resume(Queues.ORDER_TIMEOUT);
        String deadLetters = API + "/queues/receipt/dead-letters";
        await().until(() -> json(get(VIEWER, deadLetters)).get("deadLetters").size() == 1);
        JsonNode deadLetter = json(get(VIEWER, deadLetters)).get("deadLetters").get(0);

        exchange(HttpMethod.PUT, NOBODY, "/mail-server", Map.of("repaired", true));
        String redrive = deadLetters + "/by-id/redrive?deadLetterId=" + deadLetter.get("deadLetterId").asString();
        int ofTheViewer = post(VIEWER, redrive, Map.of()).getStatusCode().value();
        int ofTheOperator = post(OPERATOR, redrive, Map.of()).getStatusCode().value();

        assertThat(deadLetter.get("failures").asInt()).isEqualTo(4);
        assertThat(ofTheViewer).isEqualTo(403);
        assertThat(ofTheOperator).isEqualTo(204);
        await().until(() -> json(get(VIEWER, API + "/queues/receipt")).get("scheduled").asInt() == 0);
        assertThat(json(get(VIEWER, deadLetters)).get("deadLetters")).isEmpty();
        assertThat(get(VIEWER, "/actuator/auditevents").getBody()).contains("\"principal\":\"operator\"")
            .contains("redrive")
            .doesNotContain("may-act");
    }

    @Test
    void auditKeepsChangesAmongManyReads() {
        String queue = API + "/queues/order-timeout";
        exchange(HttpMethod.PUT, OPERATOR, queue + "/pause", Map.of());
        exchange(HttpMethod.DELETE, OPERATOR, queue + "/pause", Map.of());
        get(VIEWER, "/delayqueue/");

        JsonNode audit = json(get(VIEWER, "/actuator/auditevents")).get("events");

        assertThat(audit.valueStream().map((event) -> event.get("type").asString()))
            .contains("delayqueue.pause", "delayqueue.resume")
            .allMatch((type) -> type.startsWith("delayqueue."));
    }

    @Test
    void metersOfTheQueuesAreScraped() {
        place("none");

        await().untilAsserted(() -> assertThat(get(VIEWER, "/actuator/prometheus").getBody())
            .contains("delayqueue_sent_total{outcome=\"scheduled\",queue=\"order-timeout\"}")
            .contains("delayqueue_messages_scheduled{queue=\"order-timeout\"} ")
            .contains("delayqueue_lateness_seconds_bucket{listener="));
    }

    @Test
    void healthIsPublicAndItsDetailsNeedAnAuthority() {
        assertThat(get(NOBODY, "/actuator/health").getBody()).contains("\"status\":\"UP\"")
            .doesNotContain("components");
        assertThat(get(SENDER, "/actuator/health").getBody()).contains("\"status\":\"UP\"")
            .doesNotContain("components");
        assertThat(json(get(VIEWER, "/actuator/health")).get("components").get("delayqueue").get("status").asString())
            .isEqualTo("UP");
    }

    @Test
    void dashboardNeedsAnAuthority() {
        assertThat(get(VIEWER, "/delayqueue/").getBody()).contains("<html");
        assertThat(get(NOBODY, "/delayqueue/").getStatusCode().value()).isEqualTo(401);
        assertThat(get(SENDER, "/delayqueue/").getStatusCode().value()).isEqualTo(403);
    }

    @Test
    void noAccountReachesRoutesWithoutItsAuthority() {
        assertThat(get(NOBODY, "/orders").getStatusCode().value()).isEqualTo(200);
        assertThat(get(NOBODY, API + "/queues/receipt").getStatusCode().value()).isEqualTo(401);
        assertThat(get(SENDER, API + "/queues/receipt").getStatusCode().value()).isEqualTo(403);
        assertThat(get(NOBODY, "/actuator/prometheus").getStatusCode().value()).isEqualTo(401);
        assertThat(get(SENDER, "/actuator/prometheus").getStatusCode().value()).isEqualTo(403);
        assertThat(get(CONSUMER, API + "/queues/receipt").getStatusCode().value()).isEqualTo(403);
        assertThat(get(OPERATOR, "/actuator/env").getStatusCode().value()).isEqualTo(404);
        assertThat(get(new User("operator", "may-view"), "/actuator/prometheus").getStatusCode().value())
            .isEqualTo(401);
    }

    private static ConditionFactory await() {
        return Awaitility.await().atMost(Duration.ofSeconds(60));
    }

    private String place(String simulate) {
        ResponseEntity<String> answer = post(NOBODY, "/orders",
                Map.of("item", "Kettle", "amount", 42.5, "simulate", simulate));
        return json(answer).get("id").asString();
    }

    private String state(String id) {
        for (JsonNode order : json(get(NOBODY, "/orders"))) {
            if (order.get("id").asString().equals(id)) {
                return order.get("state").asString();
            }
        }
        return "missing";
    }

    private ResponseEntity<String> get(User user, String path) {
        return http(user).get().uri(path).retrieve().toEntity(String.class);
    }

    private ResponseEntity<String> post(User user, String path, Object body) {
        return exchange(HttpMethod.POST, user, path, body);
    }

    private ResponseEntity<String> exchange(HttpMethod method, User user, String path, Object body) {
        return http(user).method(method)
            .uri(path)
            .contentType(MediaType.APPLICATION_JSON)
            .body(body)
            .retrieve()
            .toEntity(String.class);
    }

    private RestClient http(User user) {
        return RestClient.builder().baseUrl("http://127.0.0.1:" + this.port).defaultHeaders((headers) -> {
            if (user.password() != null) {
                headers.setBasicAuth(user.name(), user.password());
            }
        }).defaultStatusHandler((status) -> true, (request, response) -> {
        }).build();
    }

    private static JsonNode json(ResponseEntity<String> answer) {
        return JSON.readTree(Objects.requireNonNull(answer.getBody()));
    }

    private record User(String name, @Nullable String password) {
    }

}
