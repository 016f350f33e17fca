package io.delayqueue.web.api;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedMessage;
import io.delayqueue.admin.AuditedOperationEvent;
import io.delayqueue.admin.AuditedOperationEvent.Outcome;
import io.delayqueue.web.consume.ApiServer;
import io.delayqueue.web.consume.ApiServer.Reply;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.is;

/**
 * Tests overrides of the listeners of a node, and stacks of its handlers, over HTTP and
 * in force.
 */
@Tag("server")
class NodeRoutesTests {

    private static final String NODES = ApiServer.PATH + "/nodes";

    private final ApiServer server = ApiServer.start(Shop.class, "delayqueue.listener.concurrency=4",
            "delayqueue.listener.overdue-after=1s");

    private final Handlers handlers = this.server.bean(Handlers.class);

    private String node;

    @BeforeEach
    void awaitNode() {
        eventually().untilAsserted(() -> {
            JsonNode nodes = this.server.get(NODES).json().path("nodes");
            assertThat(nodes).hasSize(1);
            this.node = nodes.get(0).path("id").asString();
        });
    }

    @AfterEach
    void stop() {
        this.handlers.release.countDown();
        this.server.close();
    }

    private static ConditionFactory eventually() {
        return Awaitility.await().atMost(Duration.ofMinutes(1));
    }

    private Reply put(String body) {
        return this.server.call(ApiServer.ALL, "PUT", NODES + "/" + this.node + "/overrides", body);
    }

    private JsonNode found() {
        return this.server.get(NODES + "/" + this.node).json();
    }

    private JsonNode inForce() {
        return found().path("listeners").get(0).path("byQueue").get(0);
    }

    private void send(int count) {
        for (int i = 0; i < count; i++) {
            this.server.operations().send(DelayedMessage.builder("orders", Map.of()).id("o-" + i).build());
        }
    }

    @Test
    void aLowerConcurrencyIsInForceAndReportedAndInterruptsNoHandler() {
        send(4);
        eventually().untilAtomic(this.handlers.running, is(4));

        Reply reply = put("{\"listener\": \"l\", \"queue\": \"orders\", \"concurrency\": 1, \"forMillis\": 60000}");

        assertThat(reply.status()).isEqualTo(200);
        assertThat(reply.json().path("by").asString()).isEqualTo("all");
        assertThat(Instant.parse(reply.json().path("until").asString()))
            .isEqualTo(Instant.parse(reply.json().path("at").asString()).plusSeconds(60));
        assertThat(found().path("wanted").path("overrides").get(0)).isEqualTo(reply.json());
        eventually().untilAsserted(() -> {
            assertThat(inForce().path("override")).isEqualTo(reply.json());
            assertThat(inForce().path("concurrency").asInt()).isOne();
            assertThat(inForce().path("configured").asInt()).isEqualTo(4);
        });
        assertThat(this.handlers.running).hasValue(4);
        assertThat(this.handlers.interrupted).hasValue(0);
        this.server.operations().send(DelayedMessage.builder("orders", Map.of()).id("next").build());
        this.handlers.release.countDown();
        eventually().untilAtomic(this.handlers.handled, is(5));
        assertThat(this.handlers.interrupted).hasValue(0);
        assertThat(this.server.audited()).last()
            .isEqualTo(new AuditedOperationEvent("all", "override-listener", "orders",
                    "{\"node\":\"%s\",\"listener\":\"l\",\"concurrency\":1,\"paused\":null,\"forMillis\":60000}"
                        .formatted(this.node),
                    1, Outcome.DONE));
    }

    @Test
    @Tag("matrix")
    void aPauseEndsWhenItIsWithdrawn() {
        put("{\"listener\": \"l\", \"queue\": \"orders\", \"paused\": true}");
        eventually().untilAsserted(() -> assertThat(inForce().path("override").path("paused").asBoolean()).isTrue());
        send(1);

        Reply reply = this.server.call(ApiServer.ALL, "DELETE",
                NODES + "/" + this.node + "/overrides?listener=l&queue=orders", null);

        assertThat(this.handlers.running).as("until then").hasValue(0);
        assertThat(reply.json().path("result").asString()).isEqualTo("WITHDRAWN");
        eventually().untilAtomic(this.handlers.running, is(1));
        assertThat(inForce().path("override").isNull()).isTrue();
        assertThat(this.server
            .call(ApiServer.ALL, "DELETE", NODES + "/" + this.node + "/overrides?listener=l&queue=orders", null)
            .json()
            .path("result")
            .asString()).isEqualTo("NONE");
    }

    @Test
    void anAbsentFieldKeepsWhatTheOverrideHas() {
        put("{\"listener\": \"l\", \"queue\": \"orders\", \"concurrency\": 2}");
        JsonNode paused = put("{\"listener\": \"l\", \"queue\": \"orders\", \"paused\": true}").json();
        assertThat(paused.path("concurrency").asInt()).isEqualTo(2);
        assertThat(paused.path("paused").asBoolean()).isTrue();
        JsonNode raised = put("{\"listener\": \"l\", \"queue\": \"orders\", \"concurrency\": 3}").json();
        assertThat(raised.path("paused").asBoolean()).isTrue();
        JsonNode resumed = put("{\"listener\": \"l\", \"queue\": \"orders\", \"paused\": false}").json();
        assertThat(resumed.path("concurrency").asInt()).isEqualTo(3);
        assertThat(resumed.path("paused").asBoolean(true)).isFalse();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = { "{\"listener\": \"l\", \"queue\": \"orders\"}|400|changes nothing",
            "{\"listener\": \"l\", \"queue\": \"orders\", \"concurrency\": 0}|400|use 1 to 10000",
            "{\"listener\": \"l\", \"queue\": \"orders\", \"concurrency\": 10001}|400|use 1 to 10000",
            "{\"listener\": \"l\", \"queue\": \"orders\", \"paused\": true, \"forMillis\": 999}|400|use 1000 to 86400000",
            "{\"listener\": \"l\", \"queue\": \"orders\", \"paused\": true, \"forMillis\": 86400001}|400|use 1000 to",
            "{\"listener\": \"l\", \"queue\": \"a b\", \"paused\": true}|400|a b",
            "{\"listener\": \"other\", \"queue\": \"orders\", \"paused\": true}|404|has no listener",
            "{\"listener\": \"l\", \"queue\": \"other\", \"paused\": true}|404|has no listener" })
    void rejectsWhatIsNotValid(String body, int status, String detail) {
        Reply reply = put(body);
        assertThat(reply.status()).isEqualTo(status);
        assertThat(reply.detail()).contains(detail);
        assertThat(found().path("wanted").path("overrides")).isEmpty();
    }

    @Test
    void aNodeThatIsGoneIsNotFound() {
        assertThat(this.server.get(NODES + "/gone").status()).isEqualTo(404);
        assertThat(this.server.get(NODES + "/gone/stacks").status()).isEqualTo(404);
        assertThat(this.server.post(NODES + "/gone/stacks", "{}").status()).isEqualTo(404);
    }

    @Test
    void overdueHandlersAreReportedWithTheirMessages() {
        send(1);
        eventually().untilAsserted(() -> {
            JsonNode running = found().path("handlers");
            assertThat(running.path("overdue").asInt()).isOne();
            JsonNode handler = running.path("longest").get(0);
            assertThat(handler.path("id").asString()).isEqualTo("o-0");
            assertThat(handler.path("overdue").asBoolean()).isTrue();
            assertThat(handler.has("frames")).isFalse();
        });
    }

    @Test
    @Tag("matrix")
    void stacksAreTakenOnRequestOnly() {
        send(1);
        eventually().untilAsserted(() -> assertThat(found().path("handlers").path("overdue").asInt()).isOne());
        String path = NODES + "/" + this.node + "/stacks";
        assertThat(this.server.get(path).json().path("takenAt").isNull()).isTrue();

        Reply requested = this.server.call("diagnose", "POST", path, null);

        eventually().untilAsserted(() -> {
            JsonNode stacks = this.server.call("diagnose", "GET", path, null).json();
            assertThat(stacks.path("requestedAt")).isEqualTo(requested.json().path("at"));
            assertThat(stacks.path("handlers").get(0).path("frames").toString()).contains("NodeRoutesTests$Handlers")
                .doesNotContain("DeliveryProcessor");
        });
        assertThat(this.server.audited()).last()
            .isEqualTo(new AuditedOperationEvent("diagnose", "request-stacks", null, this.node, 1, Outcome.DONE));
        assertThat(this.server.get(NODES).body()).doesNotContain("frames");
    }

    /** Has a handler that waits. */
    @Configuration(proxyBeanMethods = false)
    @Import(ApiServer.Application.class)
    static class Shop {

        @Bean
        Handlers handlers() {
            return new Handlers();
        }

    }

    static class Handlers {

        private final CountDownLatch release = new CountDownLatch(1);

        private final AtomicInteger running = new AtomicInteger();

        private final AtomicInteger handled = new AtomicInteger();

        private final AtomicInteger interrupted = new AtomicInteger();

        @DelayedListener(value = "orders", id = "l")
        void handle(Map<String, Object> order) {
            this.running.incrementAndGet();
            try {
                this.release.await();
                this.handled.incrementAndGet();
            }
            catch (InterruptedException ex) {
                this.interrupted.incrementAndGet();
            }
        }

    }

}
