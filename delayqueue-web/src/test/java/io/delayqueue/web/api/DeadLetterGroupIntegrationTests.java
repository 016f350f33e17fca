package io.delayqueue.web.api;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import io.delayqueue.DeadLetter;
import io.delayqueue.DelayedMessage;
import io.delayqueue.ReceivedMessage;
import io.delayqueue.admin.AuditedOperationEvent;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.RedisUser;
import io.delayqueue.web.consume.ApiServer;
import io.delayqueue.web.consume.ApiServer.Reply;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.NullNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Groups dead letters by their causes on a real server, and changes a group in steps. */
@Tag("server")
class DeadLetterGroupIntegrationTests {

    private static final String QUEUES = ApiServer.PATH + "/queues/";

    private static final String TIMEOUT = "com.example.TimeoutException: no answer for order ";

    private static final String REFUSED = "com.example.RefusedException: card 4111";

    private static final int EACH = 300;

    private static RedisServer redis;

    private static ApiServer server;

    @BeforeAll
    static void start() {
        redis = RedisServer.shared(RedisBinary.REDIS_7_0);
        server = ApiServer.start(RedisUser.asAsked("spring.data.redis.port=" + redis.port(), "delayqueue.store=redis",
                "delayqueue.namespace=letter-groups"));
    }

    @AfterAll
    static void stop() {
        server.close();
        redis.commands().del(redis.commands().keys("letter-groups:*").toArray(String[]::new));
    }

    private static void send(String queue, String id) {
        server.operations().send(DelayedMessage.builder(queue, Map.of("id", id)).id(id).delay(Duration.ZERO).build());
    }

    private static void deadLetter(String queue, String id, String cause) {
        send(queue, id);
        ReceivedMessage received = server.operations().receive(queue, Duration.ofMinutes(1)).orElseThrow();
        assertThat(received.id()).isEqualTo(id);
        assertThat(received.deadLetter(cause)).isTrue();
    }

    /** Dead-letters messages of two causes, one after the other. */
    private static void fill(String queue) {
        server.operations()
            .sendAll(IntStream.range(0, 2 * EACH)
                .mapToObj((i) -> DelayedMessage.builder(queue, i).id("m-" + i).delay(Duration.ZERO).build())
                .toList());
        for (int i = 0; i < 2 * EACH; i++) {
            ReceivedMessage received = server.operations().receive(queue, Duration.ofMinutes(1)).orElseThrow();
            boolean late = Integer.parseInt(received.id().substring(2)) % 2 == 0;
            assertThat(received.deadLetter(late ? TIMEOUT + i : REFUSED)).isTrue();
        }
    }

    private static JsonNode causes(String queue) {
        return json(server.get(QUEUES + queue + "/dead-letters/causes")).path("causes");
    }

    private static JsonNode json(Reply reply) {
        assertThat(reply.status()).as(reply.body()).isEqualTo(200);
        return reply.json();
    }

    private static JsonNode step(String user, String queue, String operation, String filter, JsonNode cursor) {
        return json(server.call(user, "POST", QUEUES + queue + "/dead-letters/" + operation,
                "{\"filter\": {%s}, \"cursor\": %s}".formatted(filter, cursor)));
    }

    /** Takes all steps, like the dashboard does. */
    private static List<JsonNode> steps(String user, String queue, String operation, String filter) {
        List<JsonNode> steps = new ArrayList<>();
        steps.add(step(user, queue, operation, filter, NullNode.getInstance()));
        while (steps.get(steps.size() - 1).path("nextCursor").isString()) {
            steps.add(step(user, queue, operation, filter, steps.get(steps.size() - 1).path("nextCursor")));
        }
        return steps;
    }

    private static int sum(List<JsonNode> steps, String field) {
        return steps.stream().mapToInt((step) -> step.path(field).intValue()).sum();
    }

    @ParameterizedTest
    @ValueSource(strings = { "redrive", "purge" })
    void aChangeOfAGroupTakesStepsAndAffectsTheCountedDeadLettersOfItsCauseOnly(String operation) {
        String queue = "steps-of-" + operation;
        fill(queue);
        JsonNode group = causes(queue).path(0);
        String causeGroup = "\"causeGroup\": \"%s\"".formatted(
                (group.path("text").asString().equals(TIMEOUT + "#") ? group : causes(queue).path(1)).path("causeGroup")
                    .asString());

        List<JsonNode> counted = steps(ApiServer.ALL, queue, "count", causeGroup);
        deadLetter(queue, "later", TIMEOUT + "4712");
        List<JsonNode> changed = steps(ApiServer.ALL, queue, operation,
                causeGroup + ", \"deadLetteredBefore\": " + counted.get(0).path("deadLetteredBefore"));

        assertThat(sum(counted, "matched")).isEqualTo(EACH);
        assertThat(sum(counted, "changed")).isZero();
        assertThat(changed).hasSize(2).allSatisfy((step) -> {
            assertThat(step.path("examined").intValue()).isBetween(1, 500);
            assertThat(step.path("changed").intValue()).isPositive().isEqualTo(step.path("matched").intValue());
        });
        assertThat(sum(changed, "examined")).isEqualTo(2 * EACH);
        assertThat(sum(changed, "changed")).isEqualTo(EACH);
        assertThat(server.operations().statistics(queue).dead()).isEqualTo(EACH + 1);
        assertThat(causes(queue).findValuesAsString("text")).containsExactly(REFUSED.replace("4111", "#"),
                TIMEOUT + "#");
        assertThat(causes(queue).findValues("count")).extracting(JsonNode::intValue).containsExactly(EACH, 1);
        for (int i = 0; i < 2 * EACH; i++) {
            assertThat(server.operations().find(queue, "m-" + i).isPresent()).as("m-%d waits again", i)
                .isEqualTo(operation.equals("redrive") && i % 2 == 0);
        }
        assertThat(server.audited()).filteredOn((event) -> queue.equals(event.queue()))
            .filteredOn((event) -> event.operation().equals(operation))
            .extracting(AuditedOperationEvent::count)
            .containsExactlyElementsOf(changed.stream().map((step) -> step.path("changed").longValue()).toList());
    }

    /** A group of a type needs no authority to read causes, and reveals none. */
    @Test
    void anOperatorWithoutPayloadAuthorityPurgesTheGroupOfAType() {
        String queue = "purged-by-type";
        deadLetter(queue, "1", TIMEOUT + "1");
        deadLetter(queue, "2", REFUSED + "\n\tat com.example.Shop");
        deadLetter(queue, "3", REFUSED.replace("4111", "is stolen"));
        json(server.get(QUEUES + queue + "/dead-letters/causes"));

        Reply masked = server.call("view", "GET", QUEUES + queue + "/dead-letters/causes", null);
        String causeGroup = "\"causeGroup\": \"%s\"".formatted(json(masked).at("/causes/0/causeGroup").asString());
        JsonNode before = steps("view", queue, "count", causeGroup).get(0).path("deadLetteredBefore");
        List<JsonNode> purged = steps("operate", queue, "purge", causeGroup + ", \"deadLetteredBefore\": " + before);

        assertThat(masked.json().path("masked").booleanValue()).isTrue();
        assertThat(masked.json().at("/causes/0/text").asString()).isEqualTo("com.example.RefusedException");
        assertThat(masked.body()).doesNotContain("4111", "stolen", "no answer");
        assertThat(sum(purged, "changed")).isEqualTo(2);
        assertThat(causes(queue).findValuesAsString("text")).containsExactly(TIMEOUT + "#");
    }

    /** The filter ends in the future, such as at the end of the day. */
    @Test
    void aPurgeWhoseFilterEndsInTheFutureAffectsTheCountedDeadLettersOnly() {
        String queue = "ends-later";
        String before = "\"deadLetteredBefore\": ";
        deadLetter(queue, "counted", REFUSED);

        JsonNode counted = await("the millisecond of the death is over").until(
                () -> steps("view", queue, "count", before + "\"2100-01-01T00:00:00Z\"").get(0),
                (step) -> step.path("matched").intValue() == 1);
        deadLetter(queue, "later", REFUSED);
        steps("operate", queue, "purge", before + counted.path("deadLetteredBefore"));

        assertThat(server.operations().deadLetters(queue).list(null, 10).deadLetters())
            .extracting(DeadLetter::messageId)
            .containsExactly("later");
        JsonNode bounded = steps("view", queue, "count", before + "\"2020-01-01T00:00:00Z\"").get(0);
        assertThat(bounded.path("deadLetteredBefore").asString()).isEqualTo("2020-01-01T00:00:00Z");
        assertThat(bounded.path("matched").intValue()).isZero();
    }

    /** The second of two partitions cannot be read, after the first was. */
    @Test
    void aFailureInTheMiddleIsReportedAndNotCached() {
        String queue = "half-broken";
        server.operations().repartition(queue, 2);
        for (int i = 0; i < 8; i++) {
            deadLetter(queue, "m-" + i, REFUSED);
        }
        String broken = "letter-groups:{%s:1}:dead-order".formatted(queue);
        assertThat(redis.commands().zcard(broken)).isBetween(1L, 7L);
        redis.commands().rename(broken, "letter-groups:kept");
        redis.commands().set(broken, "no sorted set");

        Reply failed = server.get(QUEUES + queue + "/dead-letters/causes");
        redis.commands().rename("letter-groups:kept", broken);

        assertThat(failed.problem()).isEqualTo("store-refused");
        assertThat(failed.body()).doesNotContain("causeGroup");
        assertThat(causes(queue).at("/0/count").intValue()).isEqualTo(8);
    }

}
