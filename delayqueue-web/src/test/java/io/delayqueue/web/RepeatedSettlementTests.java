package io.delayqueue.web;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.delayqueue.DeadLetterEvent;
import io.delayqueue.DelayedMessage;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.RedisUser;
import io.delayqueue.web.consume.ApiServer;
import io.delayqueue.web.consume.ApiServer.Reply;
import io.micrometer.core.instrument.MeterRegistry;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import tools.jackson.databind.JsonNode;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.EventListener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Checks P11 over HTTP: a repeated settlement is answered but not repeated. A
 * dead-lettering is published once by each node that was called, as none knows whether
 * another one has published it.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("server")
class RepeatedSettlementTests {

    private static final String QUEUES = ApiServer.PATH + "/queues/";

    @Test
    void repeatedSettlementsAreAnsweredButNotRepeatedOnOneNode(CapturedOutput output) {
        try (ApiServer server = ApiServer.start(Listening.class)) {
            repeat(List.of(server), output);
        }
    }

    @Test
    void repeatedSettlementsAreAnsweredButNotRepeatedOnAnotherNode(CapturedOutput output) {
        RedisServer redis = RedisServer.shared(RedisBinary.REDIS_7_0);
        String[] properties = RedisUser.asAsked("spring.data.redis.port=" + redis.port(), "delayqueue.store=redis",
                "delayqueue.namespace=repeated");
        try (ApiServer one = ApiServer.start(Listening.class, properties);
                ApiServer other = ApiServer.start(Listening.class, properties)) {
            repeat(List.of(one, other), output);
        }
        finally {
            redis.commands().del(redis.commands().keys("repeated:*").toArray(String[]::new));
        }
    }

    private static void repeat(List<ApiServer> servers, CapturedOutput output) {
        String retried = claim(servers.get(0), "retried");
        String dead = claim(servers.get(0), "dead");
        String last = claim(servers.get(0), "last");
        String released = claim(servers.get(0), "released");
        for (int i = 0; i < 4; i++) {
            ApiServer server = servers.get(i % servers.size());
            assertThat(settle(server, "retried", "retry", retried, "failure").status()).isEqualTo(204);
            assertThat(settle(server, "dead", "dead-letter", dead, "reason").status()).isEqualTo(204);
            assertThat(settle(server, "last", "retry", last, "failure").status()).isEqualTo(204);
            assertThat(server
                .post(QUEUES + "released/leases/release",
                        "{\"id\": \"1\", \"token\": \"%s\", \"delayMillis\": 600000}".formatted(released))
                .status()).isEqualTo(204);
        }

        assertThat(count(servers, "delayqueue.retried", "retried")).isEqualTo(1);
        for (String queue : List.of("dead", "last")) {
            assertThat(count(servers, "delayqueue.dead.lettered", queue)).isEqualTo(servers.size());
            assertThat(servers.get(0).operations().statistics(queue).dead()).isEqualTo(1);
        }
        assertThat(servers).allSatisfy((server) -> assertThat(server.audited()).isNotEmpty());
        assertThat(servers).allSatisfy((server) -> await()
            .untilAsserted(() -> assertThat(server.bean(Deaths.class).heard).extracting(DeadLetterEvent::queue)
                .containsExactlyInAnyOrder("dead", "last")));
        assertThat(servers.stream().flatMap((server) -> server.bean(Deaths.class).heard.stream()).distinct())
            .hasSize(2);
        await().untilAsserted(() -> {
            assertThat(output.getAll().lines().filter((line) -> line.contains("is dead-lettered after")))
                .hasSize(2 * servers.size())
                .filteredOn((line) -> line.endsWith("(a repeated call; may have been logged before)"))
                .hasSize(2 * (servers.size() - 1));
        });
        assertThat(servers.stream().flatMap((server) -> server.audited().stream()))
            .filteredOn((event) -> !event.operation().equals("claim"))
            .extracting((event) -> event.count())
            .containsOnly(1L)
            .hasSize(2 + 2 * servers.size());
    }

    private static String claim(ApiServer server, String queue) {
        server.operations().send(DelayedMessage.builder(queue, "x").id("1").delay(Duration.ZERO).build());
        String token = "";
        int attempts = queue.equals("last") ? 5 : 1;
        for (int i = 1; i <= attempts; i++) {
            JsonNode message = server.post(QUEUES + queue + "/claims", "{\"waitMillis\": 20000}")
                .json()
                .at("/messages/0");
            token = message.path("token").asString();
            assertThat(message.path("attempt").intValue()).isEqualTo(i);
            if (i < attempts) {
                assertThat(server
                    .post(QUEUES + queue + "/leases/retry",
                            "{\"id\": \"1\", \"token\": \"%s\", \"delayMillis\": 0, \"failure\": \"x\"}"
                                .formatted(token))
                    .status()).isEqualTo(204);
            }
        }
        server.audited().clear();
        return token;
    }

    private static Reply settle(ApiServer server, String queue, String operation, String token, String field) {
        return server.post(QUEUES + queue + "/leases/" + operation,
                "{\"id\": \"1\", \"token\": \"%s\", \"%s\": \"why\"}".formatted(token, field));
    }

    private static double count(List<ApiServer> servers, String meter, String queue) {
        return servers.stream()
            .flatMap((server) -> server.bean(MeterRegistry.class).find(meter).tag("queue", queue).counters().stream())
            .mapToDouble((counter) -> counter.count())
            .sum();
    }

    @Configuration(proxyBeanMethods = false)
    @Import(ApiServer.Application.class)
    static class Listening {

        @Bean
        Deaths deaths() {
            return new Deaths();
        }

    }

    static class Deaths {

        private final List<DeadLetterEvent> heard = new CopyOnWriteArrayList<>();

        @EventListener
        void heard(DeadLetterEvent event) {
            this.heard.add(event);
        }

    }

}
