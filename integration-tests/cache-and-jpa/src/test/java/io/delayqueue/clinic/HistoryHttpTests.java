package io.delayqueue.clinic;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;

import io.delayqueue.DelayedListener;
import io.delayqueue.admin.AuditedOperationEvent;
import io.delayqueue.template.DelayQueueTemplate;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.PayloadApplicationEvent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

/** Tests the routes of the history, with messages in memory and transitions in H2. */
@Tag("server")
class HistoryHttpTests {

    private static final String ORDERS = "orders";

    private final HttpClient client = HttpClient.newHttpClient();

    private final List<AuditedOperationEvent> audited = new CopyOnWriteArrayList<>();

    private ConfigurableApplicationContext context;

    @BeforeEach
    void start() {
        ApplicationListener<PayloadApplicationEvent<AuditedOperationEvent>> listener = ApplicationListener
            .forPayload(this.audited::add);
        this.context = new SpringApplicationBuilder(AuditedClinic.class).listeners(listener)
            .run("--delayqueue.store=memory", "--spring.datasource.url=" + "jdbc:h2:mem:" + UUID.randomUUID(),
                    "--delayqueue.journal.mode=audit", "--delayqueue.listener.max-attempts=1", "--server.port=0",
                    "--server.address=127.0.0.1", "--delayqueue.web.api.enabled=true",
                    "--delayqueue.web.insecure-local=true", "--spring.main.banner-mode=off");
    }

    @AfterEach
    void stop() {
        this.context.close();
    }

    private JsonNode call(String method, String id) {
        int port = ((WebServerApplicationContext) this.context).getWebServer().getPort();
        URI address = URI.create("http://127.0.0.1:%d/delayqueue/api/v1/queues/%s/messages/by-id/history?id=%s"
            .formatted(port, ORDERS, id));
        try {
            HttpResponse<String> response = this.client.send(
                    HttpRequest.newBuilder(address).method(method, HttpRequest.BodyPublishers.noBody()).build(),
                    BodyHandlers.ofString());
            assertThat(response.statusCode()).isEqualTo(200);
            return JsonMapper.shared().readTree(response.body());
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(ex);
        }
    }

    @Test
    void theHistoryOfAFinishedMessageIsReadAndErased() {
        this.context.getBean(DelayQueueTemplate.class).send(ORDERS, "42", "broken", Duration.ZERO);

        Awaitility.await()
            .atMost(Duration.ofMinutes(1))
            .untilAsserted(
                    () -> assertThat(call("GET", "42").at("/entries/3/event").asString("")).isEqualTo("DEAD_LETTERED"));
        JsonNode failed = call("GET", "42").at("/entries/2");
        assertThat(failed.path("event").asString()).isEqualTo("FAILED");
        assertThat(failed.path("attempt").asInt()).isEqualTo(1);
        assertThat(failed.path("detail").asString()).contains("card 4711 is blocked");
        assertThat(call("GET", "43").path("entries")).isEmpty();

        JsonNode erased = call("DELETE", "42");

        assertThat(erased.path("message").asString()).isEqualTo("NOT_FOUND");
        assertThat(erased.path("deadLetters").asInt()).isEqualTo(1);
        assertThat(call("GET", "42").path("entries")).isEmpty();
        assertThat(this.audited)
            .extracting(AuditedOperationEvent::operation, AuditedOperationEvent::filter, AuditedOperationEvent::count)
            .containsExactly(tuple("erase", "42", 1L));
    }

    @EnableAutoConfiguration
    static class AuditedClinic {

        @DelayedListener(ORDERS)
        void onOrder(String order) {
            throw new IllegalStateException("card 4711 is blocked");
        }

    }

}
