package io.delayqueue.web;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

import io.delayqueue.admin.AuditedOperationEvent;
import io.delayqueue.web.consume.ApiServer;
import io.delayqueue.web.consume.ApiServer.Reply;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Checks rejections and their texts, and that garbage is never a defect. */
@Tag("server")
class ApiLimitsTests {

    private static final String QUEUE = ApiServer.PATH + "/queues/limits";

    private static final long SEED = 20261122;

    private final ApiServer server = ApiServer.shared();

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', value = { "/messages | {} | Field 'payload' is needed",
            "/messages | {\"payload\": null} | Field 'payload' is needed",
            "/messages | {\"payload\": 1, \"delayMilis\": 1} | Field 'delayMilis' is not known",
            "/messages | {\"payload\": 1, \"delayMillis\": -1} | use 0 to 3153600000000 ms, not -1",
            "/messages | {\"payload\": 1, \"delayMillis\": 3153600000001} | not 3153600000001",
            "/messages | {\"payload\": 1, \"delayMillis\": 1.5} | use an integer, in milliseconds, not number",
            "/messages | {\"payload\": 1, \"dueAt\": \"tomorrow\"} | not 'tomorrow'",
            "/messages | {\"payload\": 1, \"dueAt\": \"3000-01-01T00:00:00Z\"} | it must lie before",
            "/messages | {\"payload\": 1, \"priority\": 10} | Priority 10 is not valid: use 0 (last) to 9 (first)",
            "/messages | {\"payload\": 1, \"id\": \"a b\"} | Message id 'a b' is not valid",
            "/messages | {\"payload\": 1, \"payload\": 2} | no JSON that can be read",
            "/messages | {\"payload\": 1} x | no JSON that can be read",
            "/messages | [] | The body is not valid: use a JSON object, not array",
            "/messages | {\"payload\": 1, \"headers\": {\"a\": 1}} | use an object of strings, not number",
            "/messages | {\"payload\": 1, \"headers\": {\"delayqueue_id\": \"1\"}} | delayqueue_",
            "/messages | {\"payload\": 1, \"onDuplicate\": \"DROP\"} | use one of [KEEP, AFTER_CURRENT, REPLACE], not 'DROP'",
            "/messages/batch | {\"messages\": []} | use an array of 1 to 100 objects, not array of 0",
            "/messages/batch | {\"messages\": [{\"payload\": 1}, {\"payload\": 1, \"priority\": 11}]} | messages[1]: Priority 11",
            "/messages/batch | {\"messages\": [{\"payload\": 1, \"delayMillis\": 1, \"dueAt\": \"2030-01-01T00:00:00Z\"}]} "
                    + "| Fields 'messages[0].delayMillis' and 'messages[0].dueAt' are both there",
            "/messages/cancel | {\"ids\": []} | use an array of 1 to 100 strings, not array of 0",
            "/messages/cancel | {\"ids\": [1]} | use an array of strings, not number",
            "/messages/cancel | {\"ids\": [\"a b\"]} | Message id 'a b' is not valid",
            "/messages/reschedule | {\"ids\": [\"1\"]} | Field 'delayMillis' is needed",
            "/claims | {\"max\": 101} | use 1 to 100, not 101", "/claims | {\"max\": 0} | use 1 to 100, not 0",
            "/claims | {\"waitMillis\": 60001} | use 0 to 60000 ms, not 60001",
            "/claims | {\"leaseMillis\": 999} | use 1000 to 3600000 ms, not 999",
            "/claims | {\"leaseMillis\": 3600001} | use 1000 to 3600000 ms, not 3600001",
            "/leases/acknowledge | {\"id\": \"1\", \"token\": \"x\"} | Token of message '1' is not valid",
            "/leases/acknowledge/batch | {\"leases\": [{\"id\": \"1\", \"token\": \"x\"}]} | Token of message '1' is not valid",
            "/dead-letters/purge | {} | Field 'filter' is needed",
            "/dead-letters/purge | {\"filter\": {}} | Without a cursor, 'deadLetteredBefore' is needed" })
    void namesTheValueAndTheRule(String path, String body, String detail) {
        Reply reply = this.server.post(QUEUE + path, body);

        assertThat(reply.problem()).isEqualTo("invalid");
        assertThat(reply.detail()).contains(detail);
    }

    @ParameterizedTest
    @CsvSource({ "/messages?limit=0, 'use 1 to 100, not'", "/messages?limit=101, 'use 1 to 100, not'",
            "/messages?limits=1, is not known", "/messages?limit=1&limit=2, is there 2 times",
            "/messages?listing=DEAD, not 'DEAD'", "/messages/by-id, is needed" })
    void namesTheInvalidParameterAndTheRule(String path, String detail) {
        Reply reply = this.server.get(QUEUE + path);

        assertThat(reply.problem()).isEqualTo("invalid");
        assertThat(reply.detail()).contains(detail);
    }

    @Test
    void rejectsABodyThatIsTooLarge() {
        Reply reply = this.server.post(QUEUE + "/messages", "{\"payload\": \"%s\"}".formatted("x".repeat(1 << 20)));

        assertThat(reply.problem()).isEqualTo("body-too-large");
        assertThat(reply.detail()).contains("1048576 bytes", "delayqueue.web.api.max-body-size");
    }

    @Test
    void namesTheMessageOfABatchThatIsTooLarge() {
        String large = "x".repeat(1 << 18);
        Reply reply = this.server.post(QUEUE + "/messages/batch",
                "{\"messages\": [{\"payload\": 1}, {\"payload\": \"%s\"}, {\"payload\": 3}]}".formatted(large));

        assertThat(reply.problem()).isEqualTo("invalid");
        assertThat(reply.detail()).startsWith("Message 2 of 3: Payload of ").contains("is too large");
    }

    /** The client in Python counts an emoji once, and so does the description. */
    @Test
    void aFailureIsLimitedByItsCharacters() {
        String queue = ApiServer.PATH + "/queues/characters";
        this.server.post(queue + "/messages", "{\"id\": \"1\", \"payload\": 1}");
        JsonNode message = this.server.post(queue + "/claims", "{\"waitMillis\": 10000}").json().at("/messages/0");
        String retry = "{\"id\": \"1\", \"token\": \"" + message.path("token").asString()
                + "\", \"delayMillis\": 60000, \"failure\": \"%s\"}";

        Reply tooLong = this.server.post(queue + "/leases/retry", retry.formatted("\ud83d\ude00".repeat(4001)));
        Reply longest = this.server.post(queue + "/leases/retry", retry.formatted("\ud83d\ude00".repeat(4000)));

        assertThat(tooLong.detail()).isEqualTo("Field 'failure' is not valid: use at most 4000 characters, not 4001");
        assertThat(longest.status()).isEqualTo(204);
    }

    @Test
    void listsAndChangesDeadLettersStepByStep() {
        String queue = ApiServer.PATH + "/queues/listed";
        for (int i = 0; i < 3; i++) {
            this.server.call("all", "PUT", queue + "/messages/by-id?id=m" + i,
                    "{\"payload\": 1, \"delayMillis\": %d}".formatted(60_000 + i));
        }
        Reply first = this.server.get(queue + "/messages?limit=2");
        Reply second = this.server
            .get(queue + "/messages?limit=2&cursor=" + first.json().path("nextCursor").asString());
        assertThat(first.json().at("/messages/1/id").asString()).isEqualTo("m1");
        assertThat(second.json().at("/messages/0/id").asString()).isEqualTo("m2");

        die(queue, "m0");
        JsonNode deadLetter = this.server.get(queue + "/dead-letters").json().at("/deadLetters/0");
        assertThat(this.server
            .get(queue + "/dead-letters/by-id?deadLetterId=" + deadLetter.path("deadLetterId").asString())
            .json()).isEqualTo(deadLetter);
        assertThat(this.server.get(queue + "/dead-letters/by-id?deadLetterId=m0~1").problem()).isEqualTo("not-found");
        assertThat(this.server.get(queue + "/dead-letters/by-id?deadLetterId=" + "a".repeat(300)).problem())
            .isEqualTo("not-found");
        String filter = "\"causeContains\": \"no way\", \"idPrefix\": \"m\"";
        String count = "{\"filter\": {" + filter + "}}";
        Reply counted = await("the millisecond of the death is over").until(
                () -> this.server.post(queue + "/dead-letters/count", count),
                (reply) -> reply.json().path("matched").intValue() == 1);
        assertThat(counted.json().path("changed").intValue()).isZero();
        String bound = counted.json().path("deadLetteredBefore").asString();
        die(queue, "m1");
        Reply purged = this.server.post(queue + "/dead-letters/purge",
                "{\"filter\": {\"deadLetteredBefore\": \"" + bound + "\", " + filter + "}}");
        assertThat(purged.json().path("changed").intValue()).isEqualTo(1);
        assertThat(this.server.get(queue).json().path("dead").intValue()).as("dead letters added after the count")
            .isEqualTo(1);
    }

    private void die(String queue, String id) {
        this.server.call("all", "PATCH", queue + "/messages/by-id?id=" + id, "{\"delayMillis\": 0}");
        Reply claimed = this.server.post(queue + "/claims", "{\"waitMillis\": 10000}");
        this.server.post(queue + "/leases/dead-letter", "{\"id\": \"%s\", \"token\": \"%s\", \"reason\": \"No way\"}"
            .formatted(id, claimed.json().at("/messages/0/token").asString()));
    }

    /** Each has its own result; the audit lists all ids and counts the changed ones. */
    @Test
    void cancelsAndReschedulesManyByTheirIds() {
        String queue = ApiServer.PATH + "/queues/steered";
        for (String id : List.of("s1", "s2")) {
            this.server.call("all", "PUT", queue + "/messages/by-id?id=" + id,
                    "{\"payload\": 1, \"delayMillis\": 60000}");
        }
        Reply moved = this.server.post(queue + "/messages/reschedule",
                "{\"ids\": [\"s2\", \"s3\"], \"delayMillis\": 120000}");
        Reply cancelled = this.server.post(queue + "/messages/cancel", "{\"ids\": [\"s3\", \"s2\", \"s1\"]}");

        assertThat(moved.json().path("results").toString())
            .isEqualTo("[{\"id\":\"s2\",\"result\":\"RESCHEDULED\"},{\"id\":\"s3\",\"result\":\"NOT_FOUND\"}]");
        assertThat(cancelled.json().path("results").toString()).isEqualTo("[{\"id\":\"s3\",\"result\":\"NOT_FOUND\"},"
                + "{\"id\":\"s2\",\"result\":\"CANCELLED\"},{\"id\":\"s1\",\"result\":\"CANCELLED\"}]");
        assertThat(this.server.audited()).contains(
                new AuditedOperationEvent("all", "reschedule", "steered", "s2 s3", 1),
                new AuditedOperationEvent("all", "cancel", "steered", "s3 s2 s1", 2));
    }

    /** The message may be another sender's, so its replacement is audited. */
    @Test
    void theAuditRecordsReplacements() {
        String queue = ApiServer.PATH + "/queues/replaced";
        this.server.call("send", "PUT", queue + "/messages/by-id?id=r1", "{\"payload\": 1, \"delayMillis\": 60000}");
        this.server.call("send", "POST", queue + "/messages/batch", """
                {"messages": [{"id": "r1", "payload": 2, "delayMillis": 60000, "onDuplicate": "REPLACE"},
                        {"id": "r2", "payload": 2, "delayMillis": 60000}]}""");

        assertThat(this.server.audited()).contains(new AuditedOperationEvent("send", "send", "replaced", "r1", 1),
                new AuditedOperationEvent("send", "replace", "replaced", "r1", 1),
                new AuditedOperationEvent("send", "send", "replaced", "r2", 1));
    }

    /** A successor replaces no other, unless the caller requested that. */
    @Test
    void theAuditRecordsSuccessors() {
        String queue = ApiServer.PATH + "/queues/followed";
        this.server.call("send", "PUT", queue + "/messages/by-id?id=f1", "{\"payload\": 1}");
        assertThat(this.server.post(queue + "/claims", "{\"waitMillis\": 10000}").json().at("/messages/0/id"))
            .hasToString("\"f1\"");

        List<Reply> replies = Stream.of("KEEP", "AFTER_CURRENT", "REPLACE")
            .map((mode) -> this.server.call("send", "PUT", queue + "/messages/by-id?id=f1",
                    "{\"payload\": 2, \"onDuplicate\": \"%s\"}".formatted(mode)))
            .toList();

        assertThat(replies).extracting((reply) -> reply.json().path("outcome").asString())
            .containsExactly("KEPT", "AFTER_CURRENT", "AFTER_CURRENT");
        assertThat(this.server.audited())
            .filteredOn((event) -> "followed".equals(event.queue()) && event.principal().equals("send"))
            .extracting(AuditedOperationEvent::operation)
            .containsExactly("send", "send", "send", "replace");
    }

    @Test
    void rejectsAPauseUntilATimeInThePast() {
        String queue = ApiServer.PATH + "/queues/past";
        this.server.operations().send("past", "payload", Duration.ofMinutes(1));

        Reply reply = this.server.call("all", "PUT", queue + "/pause", "{\"until\": \"2020-01-01T00:00:00Z\"}");

        assertThat(reply.status()).isEqualTo(400);
        assertThat(reply.detail()).contains("2020-01-01T00:00:00Z has passed");
        assertThat(this.server.get(queue).json().path("paused").booleanValue()).isFalse();
    }

    @Test
    void forgetsAnEmptyQueue() {
        String queue = ApiServer.PATH + "/queues/forgotten";
        this.server.call("all", "PUT", queue + "/messages/by-id?id=1", "{\"payload\": 1, \"delayMillis\": 60000}");
        assertThat(this.server.call("all", "DELETE", queue, null).problem()).isEqualTo("queue-in-use");

        this.server.call("all", "DELETE", queue + "/messages/by-id?id=1", null);
        assertThat(this.server.call("all", "DELETE", queue, null).status()).isEqualTo(204);
        assertThat(this.server.call("all", "DELETE", queue, null).problem()).isEqualTo("not-found");
        assertThat(this.server.get(ApiServer.PATH + "/queues").body()).doesNotContain("\"forgotten\"");
    }

    /** Hostile ids, cursors, tokens and bodies; the same ones each time. */
    @Test
    void garbageIsRejectedAndNeverADefect() {
        Random random = new Random(SEED);
        for (int i = 0; i < 120; i++) {
            String rubbish = rubbish(random);
            String quoted = "\"" + rubbish.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
            String encoded = URLEncoder.encode(rubbish, StandardCharsets.UTF_8).replace("+", "%20");
            Reply reply = switch (i % 6) {
                case 0 -> this.server.get(QUEUE + "/messages/by-id?id=" + encoded);
                case 1 -> this.server.get(QUEUE + "/messages?cursor=" + encoded);
                case 2 -> this.server.get(QUEUE + "/dead-letters?cursor=" + encoded);
                case 3 -> this.server.get(ApiServer.PATH + "/queues?cursor=" + encoded);
                case 4 -> this.server.post(QUEUE + "/leases/acknowledge", "{\"id\": \"1\", \"token\": " + quoted + "}");
                default -> this.server.post(QUEUE + "/messages", rubbish);
            };
            assertThat(reply.status()).as("%d: %s", i, quoted).isIn(200, 400, 404, 409);
        }
    }

    private static String rubbish(Random random) {
        String alphabet = "09azAZ._:@/+=~-%&?#<>{}[]\",\\|! \u00e9\u202e\u65e5";
        StringBuilder text = new StringBuilder();
        int length = 1 + random.nextInt(40);
        for (int i = 0; i < length; i++) {
            text.append(alphabet.charAt(random.nextInt(alphabet.length())));
        }
        return text.toString();
    }

}
