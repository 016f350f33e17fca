package io.delayqueue.web.api;

import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import io.delayqueue.admin.AuditedOperationEvent;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.RedisUser;
import io.delayqueue.web.consume.ApiServer;
import io.delayqueue.web.consume.ApiServer.Reply;
import io.delayqueue.web.consume.HttpConsumerServices;
import io.delayqueue.web.consume.LongPolling;
import io.micrometer.core.instrument.MeterRegistry;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Checks a producer and a consumer in another language, on a real server: P1, P3 and P5
 * over HTTP.
 */
@Tag("server")
class HttpApiIntegrationTests {

    private static final String QUEUES = "/delayqueue/api/v1/queues/";

    private static RedisServer redis;

    private static ApiServer server;

    @BeforeAll
    static void start() {
        redis = RedisServer.shared(RedisBinary.REDIS_7_0);
        server = ApiServer.start(RedisUser.asAsked("spring.data.redis.port=" + redis.port(), "delayqueue.store=redis",
                "delayqueue.namespace=http-api", "delayqueue.metrics.interval=100ms"));
    }

    @AfterAll
    static void stop() {
        server.close();
        List<String> keys = redis.commands().keys("http-api:*");
        if (!keys.isEmpty()) {
            redis.commands().del(keys.toArray(String[]::new));
        }
    }

    /** The response must not name other queues either. */
    @Test
    void rejectsAQueueThatTheApplicationDoesNotKnow() {
        try (ApiServer strict = ApiServer.start("delayqueue.send.unknown-queues=reject",
                "delayqueue.known-queues=orders")) {
            Reply refused = strict.post(QUEUES + "ordres/messages", "{\"payload\": 1}");

            assertThat(refused.status()).isEqualTo(400);
            assertThat(refused.json().get("detail").asString())
                .isEqualTo("Queue 'ordres' is not known to the application");
            assertThat(strict.post(QUEUES + "orders/messages", "{\"payload\": 1}").status()).isEqualTo(201);
        }
    }

    /** The sender has to correct the request; nothing is wrong with the store. */
    @Test
    void aMessageOfAnotherGroupIsAConflict() {
        server.post(QUEUES + "grouped/messages",
                "{\"id\": \"1\", \"payload\": 1, \"group\": \"a\", \"delayMillis\": 600000}");
        String other = "{\"id\": \"1\", \"payload\": 2, \"group\": \"b\", \"onDuplicate\": \"REPLACE\"}";

        Reply refused = server.post(QUEUES + "grouped/messages", other);
        Reply batch = server.post(QUEUES + "grouped/messages/batch",
                "{\"messages\": [{\"id\": \"2\", \"payload\": 1}, %s]}".formatted(other));

        assertThat(refused.status()).isEqualTo(409);
        assertThat(refused.problem()).isEqualTo("id-in-use");
        assertThat(refused.detail()).contains("Message '1' of queue 'grouped'").contains("group 'b'");
        assertThat(refused.json().path("effect").asString()).isEqualTo("NONE");
        assertThat(batch.problem()).isEqualTo("batch");
        assertThat(batch.detail()).contains("Message '1' of queue 'grouped'")
            .endsWith("Retry the others that are not stored");
    }

    /** Otherwise the caller could neither find nor cancel it, and would send it twice. */
    @Test
    void aSendThatMayHaveStoredItsMessageReturnsTheGeneratedId() {
        // This Redis has no replica to wait for.
        try (ApiServer careful = ApiServer.start(RedisUser.asAsked("spring.data.redis.port=" + redis.port(),
                "delayqueue.store=redis", "delayqueue.namespace=http-api", "delayqueue.durability.wait-replicas=1",
                "delayqueue.durability.wait-timeout=1ms"))) {
            Reply sent = careful.post(QUEUES + "careful/messages", "{\"payload\": 1, \"delayMillis\": 600000}");

            assertThat(sent.problem()).isEqualTo("not-replicated");
            assertThat(sent.json().path("effect").asString()).isEqualTo("STORED");
            String id = sent.json().path("id").asString();
            Reply cancelled = server.call("all", "DELETE", QUEUES + "careful/messages/by-id?id=" + id, null);
            assertThat(cancelled.json().path("result").asString()).isEqualTo("CANCELLED");
            assertThat(careful.audited()).contains(new AuditedOperationEvent("all", "send", "careful", id, 1));
        }
    }

    @Test
    void deliversAMessageToAWaitingConsumer() throws Exception {
        CompletableFuture<Reply> waiting = CompletableFuture
            .supplyAsync(() -> server.post(QUEUES + "orders/claims", "{\"waitMillis\": 20000}"));
        LongPolling polls = server.bean(HttpConsumerServices.class).polls();
        await().until(() -> polls.waiting() == 1);

        Reply sent = server.post(QUEUES + "orders/messages",
                "{\"id\": \"a/1\", \"payload\": {\"price\": 12345678901234567890.10}, \"delayMillis\": 20, \"headers\": {\"k\": \"v\"}}");
        Reply claimed = waiting.get();

        assertThat(sent.status()).isEqualTo(201);
        JsonNode message = claimed.json().path("messages").path(0);
        assertThat(message.path("id").asString()).isEqualTo("a/1");
        assertThat(message.path("attempt").intValue()).isEqualTo(1);
        assertThat(message.path("headers").path("k").asString()).isEqualTo("v");
        assertThat(claimed.body()).contains("12345678901234567890.10");
        assertThat(message.path("leaseMillis").longValue()).isBetween(1L, 30_000L);
        assertThat(settle("orders", "acknowledge", message).status()).isEqualTo(204);
        Reply again = settle("orders", "acknowledge", message);
        assertThat(again.status()).isEqualTo(409);
        assertThat(again.problem()).isEqualTo("lease-lost");
        assertThat(again.detail()).contains("or was settled before, possibly by an earlier attempt of this call");
        assertThat(redis.commands().keys("http-api:{orders}:*")).isSubsetOf("http-api:{orders}:wake");
        await().untilAsserted(() -> assertThat(server.audited()).contains(
                new AuditedOperationEvent("all", "send", "orders", "a/1", 1),
                new AuditedOperationEvent("all", "claim", "orders", null, 1),
                new AuditedOperationEvent("all", "acknowledge", "orders", "a/1", 1),
                new AuditedOperationEvent("all", "acknowledge", "orders", "a/1", 0)));
    }

    /** Otherwise the backlog would go unnoticed once all its consumers are gone. */
    @Test
    void hasGaugesOfQueuesConsumedOverHttp() {
        server.post(QUEUES + "gauged/claims", "{}");
        server.post(QUEUES + "gauged/messages", "{\"payload\": 1}");

        MeterRegistry meters = server.bean(MeterRegistry.class);
        await().until(() -> meters.get("delayqueue.messages.due").tag("queue", "gauged").gauge().value() == 1);
        assertThat(meters.find("delayqueue.messages.due").tag("queue", "orders-never-claimed").gauge()).isNull();
        assertThat(settle("gauged", "acknowledge", claimOne("gauged", 20_000)).status()).isEqualTo(204);
    }

    @Test
    void rejectsASettlementWithALostLease() {
        server.post(QUEUES + "fenced/messages", "{\"id\": \"1\", \"payload\": 1}");
        JsonNode first = claimOne("fenced", 1000);
        JsonNode second = claimOne("fenced", 20_000);

        assertThat(second.path("id").asString()).isEqualTo("1");
        for (String operation : List.of("acknowledge", "extend", "release")) {
            assertThat(settle("fenced", operation, first).status()).as(operation).isEqualTo(409);
        }
        assertThat(settle("fenced", "acknowledge", second).status()).isEqualTo(204);
    }

    /** Otherwise a consumer that cannot handle the first message never gets another. */
    @Test
    void aReleasedMessageIsDueBehindTheBacklog() {
        server.post(QUEUES + "released/messages", "{\"id\": \"z\", \"payload\": 1}");
        JsonNode first = claimOne("released", 20_000);
        Instant due = Instant.parse(first.path("dueAt").asString());
        server.post(QUEUES + "released/messages", "{\"id\": \"a\", \"payload\": 1}");

        assertThat(settle("released", "release", first).status()).isEqualTo(204);
        JsonNode next = claimOne("released", 20_000);
        assertThat(next.path("id").asString()).isEqualTo("a");
        Reply delayed = server.post(QUEUES + "released/leases/release",
                "{\"id\": \"a\", \"token\": \"%s\", \"delayMillis\": 1}".formatted(next.path("token").asString()));
        assertThat(delayed.status()).isEqualTo(204);
        for (String id : List.of("z", "a")) {
            JsonNode message = claimOne("released", 20_000);
            assertThat(message.path("id").asString()).isEqualTo(id);
            assertThat(message.path("attempt").intValue()).isEqualTo(1);
            assertThat(Instant.parse(message.path("dueAt").asString())).isAfter(due);
            assertThat(settle("released", "acknowledge", message).status()).isEqualTo(204);
        }
    }

    @Test
    void deadLettersAMessageAtItsLastFailure() {
        server.post(QUEUES + "failing/messages", "{\"id\": \"1\", \"payload\": 1}");
        for (int attempt = 1; attempt <= 5; attempt++) {
            JsonNode message = claimOne("failing", 20_000);
            assertThat(message.path("attempt").intValue()).isEqualTo(attempt);
            Reply failed = server.post(QUEUES + "failing/leases/retry",
                    "{\"id\": \"1\", \"token\": \"%s\", \"delayMillis\": 0, \"failure\": \"no luck\"}"
                        .formatted(message.path("token").asString()));
            assertThat(failed.status()).isEqualTo(204);
        }

        Reply deadLetters = server.get(QUEUES + "failing/dead-letters");
        JsonNode deadLetter = deadLetters.json().path("deadLetters").path(0);
        assertThat(deadLetter.path("cause").asString()).isEqualTo("no luck");
        assertThat(deadLetter.path("failures").intValue()).isEqualTo(5);
        String redrive = QUEUES + "failing/dead-letters/by-id/redrive?deadLetterId="
                + deadLetter.path("deadLetterId").asString();
        assertThat(server.call("all", "POST", redrive, null).status()).isEqualTo(204);
        assertThat(server.call("all", "POST", redrive, null).status()).isEqualTo(404);
        assertThat(server.call("all", "DELETE", QUEUES + "failing/messages/by-id?id=1", null)
            .json()
            .path("result")
            .asString()).isEqualTo("CANCELLED");
    }

    /** Uses a client whose calls block, which claims must not. */
    @Test
    void deliversMessagesWithABlockingRedisClient() throws Exception {
        try (ApiServer blocking = ApiServer.start(RedisUser.asAsked("spring.data.redis.port=" + redis.port(),
                "spring.data.redis.client-type=jedis", "delayqueue.store=redis", "delayqueue.namespace=http-api"))) {
            List<CompletableFuture<Reply>> waiting = Stream.of("a", "b", "c")
                .map((queue) -> CompletableFuture.supplyAsync(
                        () -> blocking.post(QUEUES + "blocking-" + queue + "/claims", "{\"waitMillis\": 20000}")))
                .toList();
            LongPolling polls = blocking.bean(HttpConsumerServices.class).polls();
            await().until(() -> polls.waiting() == 3);

            for (String queue : List.of("c", "b", "a")) {
                server.post(QUEUES + "blocking-" + queue + "/messages", "{\"id\": \"1\", \"payload\": 1}");
            }

            for (CompletableFuture<Reply> one : waiting) {
                assertThat(one.get().json().at("/messages/0/id").asString()).isEqualTo("1");
            }
            assertThat(Thread.getAllStackTraces().keySet()).extracting(Thread::getName)
                .anyMatch((name) -> name.startsWith("delayqueue-web-store-"));
        }
    }

    /** Each entry has its own result, whatever the others are. */
    @Test
    void acknowledgesABatchInItsOrder() {
        server.post(QUEUES + "many/messages", "{\"id\": \"1\", \"payload\": 1}");
        String stale = claimOne("many", 1000).path("token").asString();
        String token = claimOne("many", 20_000).path("token").asString();
        String lease = "{\"id\": \"1\", \"token\": \"%s\"}";

        Reply reply = server.post(QUEUES + "many/leases/acknowledge/batch", "{\"leases\": [%s, %s, %s]}"
            .formatted(lease.formatted(token), lease.formatted(stale), lease.formatted(token)));

        assertThat(reply.json().path("results").toString()).isEqualTo("[{\"id\":\"1\",\"acknowledged\":true},"
                + "{\"id\":\"1\",\"acknowledged\":false},{\"id\":\"1\",\"acknowledged\":true}]");
        assertThat(server.audited()).contains(new AuditedOperationEvent("all", "acknowledge", "many", null, 1));
    }

    private static JsonNode claimOne(String queue, int leaseMillis) {
        Reply claimed = server.post(QUEUES + queue + "/claims",
                "{\"waitMillis\": 20000, \"leaseMillis\": %d}".formatted(leaseMillis));
        assertThat(claimed.status()).isEqualTo(200);
        return claimed.json().path("messages").path(0);
    }

    private static Reply settle(String queue, String operation, JsonNode message) {
        return server.post(QUEUES + queue + "/leases/" + operation, "{\"id\": \"%s\", \"token\": \"%s\"}"
            .formatted(message.path("id").asString(), message.path("token").asString()));
    }

}
