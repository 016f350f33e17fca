package io.delayqueue.web.api;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.delayqueue.DelayedMessage;
import io.delayqueue.web.consume.ApiServer;
import io.delayqueue.web.consume.ApiServer.Reply;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/** Finds messages and dead letters over HTTP, and groups dead letters by their causes. */
@Tag("server")
class SearchRoutesTests {

    private static final String QUEUES = ApiServer.PATH + "/queues/";

    private final ApiServer server = ApiServer.shared();

    private void send(String queue, String id) {
        this.server.operations()
            .send(DelayedMessage.builder(queue, Map.of("id", id)).id(id).delay(Duration.ofHours(1)).build());
    }

    private JsonNode view(String path) {
        Reply reply = this.server.call("view", "GET", path, null);
        assertThat(reply.status()).as(reply.body()).isEqualTo(200);
        return reply.json();
    }

    /** Leases a message and fails it, with retries left or for good. */
    private void fail(String queue, String id, String failure, boolean forGood) {
        this.server.operations()
            .send(DelayedMessage.builder(queue, Map.of("id", id)).id(id).delay(Duration.ZERO).build());
        failAgain(queue, id, failure, forGood);
    }

    /** Leases the message that is due, and fails it. */
    private void failAgain(String queue, String id, String failure, boolean forGood) {
        String body = "{\"max\": 1, \"waitMillis\": 20000}";
        JsonNode claimed = this.server.call("consume", "POST", QUEUES + queue + "/claims", body)
            .json()
            .path("messages")
            .path(0);
        assertThat(claimed.path("id").asString()).isEqualTo(id);
        String lease = "{\"id\": \"%s\", \"token\": \"%s\", ".formatted(id, claimed.path("token").asString());
        Reply settled = forGood
                ? this.server.call("consume", "POST", QUEUES + queue + "/leases/dead-letter",
                        lease + "\"reason\": \"%s\"}".formatted(failure))
                : this.server.call("consume", "POST", QUEUES + queue + "/leases/retry",
                        lease + "\"failure\": \"%s\", \"delayMillis\": 60000}".formatted(failure));
        assertThat(settled.status()).isEqualTo(204);
    }

    @Test
    void findsAnIdInEachQueueThatHasIt() {
        send("search-a", "the-one");
        send("search-b", "the-one");
        fail("search-c", "the-one", "no reason", true);
        send("search-c", "another");

        JsonNode found = view(ApiServer.PATH + "/search?id=the-one");

        assertThat(found.path("matches").findValuesAsString("queue")).containsExactlyInAnyOrder("search-a", "search-b",
                "search-c");
        assertThat(found.path("matches").findValuesAsString("kind")).containsExactlyInAnyOrder("SCHEDULED", "SCHEDULED",
                "DEAD_LETTER");
        assertThat(found.path("nextCursor").isNull()).isTrue();
        assertThat(view(ApiServer.PATH + "/search?id=the-on").path("matches")).isEmpty();
    }

    @Test
    void findsMessagesAndDeadLettersByTheBeginningOfTheirIds() {
        send("scanned", "order-1");
        send("scanned", "order-2");
        send("scanned", "other-1");
        fail("scanned", "order-3", "no reason", true);

        JsonNode all = view(QUEUES + "scanned/scan?idPrefix=order-");

        assertThat(all.path("messages").findValuesAsString("id")).containsExactlyInAnyOrder("order-1", "order-2");
        assertThat(all.path("deadLetters").findValuesAsString("id")).containsExactly("order-3");
        assertThat(view(QUEUES + "scanned/scan?selection=DEAD&idPrefix=order-").path("messages")).isEmpty();
        assertThat(this.server.call("view", "GET", QUEUES + "never-used/scan", null).problem()).isEqualTo("not-found");
    }

    @ParameterizedTest
    @ValueSource(strings = { "scan?selection=OTHER", "scan?cursor=..", "scan?idPrefix=%0a", "scan?prefix=a" })
    void rejectsInvalidSearches(String search) {
        send("rejecting", "1");

        assertThat(this.server.call("view", "GET", QUEUES + "rejecting/" + search, null).status()).isEqualTo(400);
    }

    @Test
    void showsWhyAMessageIsRetried() {
        fail("retrying", "r-1", "The printer of customer 4711 is out of paper", false);
        this.server.operations().reschedule("retrying", "r-1", Duration.ZERO);
        failAgain("retrying", "r-1", "The printer of customer 4711 is on fire", false);
        send("retrying", "fresh");

        assertThat(view(QUEUES + "retrying/retrying").path("count").intValue()).isEqualTo(1);
        JsonNode masked = view(QUEUES + "retrying/scan?selection=RETRYING").path("messages").path(0);
        assertThat(masked.path("lastFailure").asString()).isEqualTo("(masked)");
        assertThat(masked.path("lastFailedAt").isString()).isTrue();
        JsonNode open = this.server.get(QUEUES + "retrying/messages/by-id?id=r-1").json();
        assertThat(open.path("firstFailure").asString()).isEqualTo("The printer of customer 4711 is out of paper");
        assertThat(open.path("lastFailure").asString()).isEqualTo("The printer of customer 4711 is on fire");
        assertThat(open.path("failures").intValue()).isEqualTo(2);
        JsonNode listed = this.server.get(QUEUES + "retrying/scan?selection=RETRYING").json().path("messages").path(0);
        assertThat(listed.path("lastFailure").asString()).isEqualTo("The printer of customer 4711 is on fire");
        assertThat(view(QUEUES + "retrying/messages/by-id?id=fresh").path("lastFailure").isNull()).isTrue();
    }

    @Test
    void groupsDeadLettersByTheirCausesAndRedrivesAGroup() {
        for (int i = 0; i < 3; i++) {
            fail("caused", "timeout-" + i, "com.example.TimeoutException: no answer for order " + i, true);
        }
        fail("caused", "other", "com.example.TimeoutException: connection refused", true);

        JsonNode open = this.server.get(QUEUES + "caused/dead-letters/causes").json();
        JsonNode masked = view(QUEUES + "caused/dead-letters/causes");

        assertThat(open.path("causes").findValuesAsString("text")).containsExactly(
                "com.example.TimeoutException: no answer for order #",
                "com.example.TimeoutException: connection refused");
        assertThat(open.path("causes").path(0).path("count").intValue()).isEqualTo(3);
        assertThat(masked.path("causes").findValuesAsString("text")).containsExactly("com.example.TimeoutException");
        assertThat(masked.path("causes").path(0).path("count").intValue()).isEqualTo(4);
        assertThat(masked.toString()).doesNotContain("order", "refused");

        String group = open.path("causes").path(0).path("causeGroup").asString();
        String filter = "{\"filter\": {\"causeGroup\": \"%s\"%s}}";
        assertThat(this.server.call("view", "POST", QUEUES + "caused/dead-letters/count", filter.formatted(group, ""))
            .status()).as("a group of messages needs PAYLOAD").isEqualTo(403);
        JsonNode counted = this.server
            .call(ApiServer.ALL, "POST", QUEUES + "caused/dead-letters/count", filter.formatted(group, ""))
            .json();
        assertThat(counted.path("matched").intValue()).isEqualTo(3);
        JsonNode redriven = this.server
            .call(ApiServer.ALL, "POST", QUEUES + "caused/dead-letters/redrive",
                    filter.formatted(group,
                            ", \"deadLetteredBefore\": " + counted.path("deadLetteredBefore").toString()))
            .json();
        assertThat(redriven.path("changed").intValue()).isEqualTo(3);
        assertThat(this.server.operations().statistics("caused").dead()).isEqualTo(1);
        assertThat(this.server.audited()).filteredOn((event) -> "caused".equals(event.queue()))
            .filteredOn((event) -> event.operation().equals("redrive"))
            .singleElement()
            .satisfies((event) -> assertThat(event.filter()).contains(group).doesNotContain("order"));
    }

    @Test
    void countsMessagesByTheMinuteTheHourAndTheDay() {
        send("histogram", "1");
        this.server.operations().send("histogram", Map.of(), Duration.ofDays(2));
        this.server.operations().send("histogram", Map.of(), Duration.ofDays(30));

        JsonNode counts = view(QUEUES + "histogram/due-histogram");

        assertThat(sum(counts.path("minutes")) + counts.path("overdue").longValue()).isLessThanOrEqualTo(1);
        assertThat(sum(counts.path("hours"))).isEqualTo(1);
        assertThat(sum(counts.path("days"))).isEqualTo(2);
        assertThat(counts.path("later").intValue()).isEqualTo(1);
        assertThat(List.of(counts.path("minutes").size(), counts.path("hours").size(), counts.path("days").size()))
            .containsExactly(60, 24, 14);
    }

    private static long sum(JsonNode bins) {
        long sum = 0;
        for (JsonNode bin : bins) {
            sum += bin.path("count").longValue();
        }
        return sum;
    }

}
