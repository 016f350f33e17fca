package io.delayqueue.web.dashboard;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;

import io.delayqueue.DelayedMessage;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.ScheduleOperations;
import io.delayqueue.admin.AuditedOperationEvent;
import io.delayqueue.web.consume.ApiServer;
import io.delayqueue.web.consume.ApiServer.Reply;
import org.assertj.core.groups.Tuple;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Reads the data of the pages of schedules like a client without scripts. */
@Tag("server")
class ScheduleBoardRoutesTests {

    private static final String DATA = "/delayqueue/data/";

    private static ApiServer server;

    @BeforeAll
    static void start() {
        server = ApiServer.start("delayqueue.web.dashboard.enabled=true");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static ScheduleOperations schedules(String queue) {
        return server.operations().schedules(queue);
    }

    private static void put(String queue, String name) {
        schedules(queue).put(ScheduleDefinition.cron(name, "0 0 6 * * *").payload(Map.of("card", 4711)).build());
    }

    private static JsonNode view(String path) {
        Reply reply = server.call("view", "GET", DATA + path, null);
        assertThat(reply.status()).as(reply.body()).isEqualTo(200);
        return reply.json();
    }

    private static List<String> names(JsonNode page) {
        return StreamSupport.stream(page.path("schedules").spliterator(), false)
            .map((one) -> one.path("name").asString())
            .toList();
    }

    @Test
    void aFilterCoversAllSchedulesOfTheQueueStepByStep() {
        IntStream.range(0, 60).forEach((i) -> put("filtered", "customer-%02d".formatted(i)));
        schedules("filtered").pause("customer-58");

        JsonNode first = view("queues/filtered/schedules?nameContains=R-5&limit=5");
        JsonNode second = view(
                "queues/filtered/schedules?nameContains=R-5&limit=5&cursor=" + first.path("nextCursor").asString());

        assertThat(names(first)).isEmpty();
        assertThat(names(second)).containsExactly("customer-50", "customer-51", "customer-52", "customer-53",
                "customer-54");
        assertThat(names(view("queues/filtered/schedules?paused=true&limit=50"))).containsExactly("customer-58");
        assertThat(server.call("view", "GET", DATA + "queues/filtered/schedules?paused=yes", null).detail())
            .isEqualTo("Query parameter 'paused' is not valid: use true or false, not 'yes'");
    }

    @Test
    void aQueueThatDoesNotExistIsNotFound() {
        assertThat(server.call("view", "GET", DATA + "queues/never-used/schedules", null).status()).isEqualTo(404);
        assertThat(server.call("view", "GET", DATA + "queues/never-used/schedules/by-name?name=n", null).status())
            .isEqualTo(404);
    }

    @Test
    void payloadsNeedTheirAuthority() {
        put("masked", "card");

        assertThat(view("queues/masked/schedules").toString()).doesNotContain("4711");
        assertThat(view("queues/masked/schedules/by-name?name=card").path("masked").asBoolean()).isTrue();
        assertThat(view("queues/masked/schedules/by-name?name=card").toString()).doesNotContain("4711");
        assertThat(server.get(DATA + "queues/masked/schedules/by-name?name=card").json().at("/payload/card").asInt())
            .isEqualTo(4711);
    }

    @Test
    void theLastOccurrenceHasItsOutcome() {
        schedules("outcomes").put(ScheduleDefinition.fixedRate("often", Duration.ofMillis(100)).build());
        await().until(() -> schedules("outcomes").find("often").orElseThrow().lastAt() != null);
        schedules("outcomes").put(ScheduleDefinition.fixedRate("often", Duration.ofDays(30_000)).build());
        put("outcomes", "never");

        JsonNode waiting = view("queues/outcomes/schedules").path("schedules");
        String id = waiting.at("/1/lastOutcome/id").asString();
        server.operations().cancel("outcomes", id);
        JsonNode ended = view("queues/outcomes/schedules/by-name?name=often&times=3");

        assertThat(waiting.at("/0/lastOutcome").isNull()).isTrue();
        assertThat(waiting.at("/1/lastOutcome/state").asString()).isEqualTo("WAITING");
        assertThat(id).startsWith("@often@");
        assertThat(ended.at("/schedule/lastOutcome/state").asString()).isEqualTo("ENDED");
        assertThat(ended.path("following")).hasSizeLessThanOrEqualTo(3);
    }

    @Test
    void theListOfAllQueuesNamesThoseWithFurtherSchedules() {
        IntStream.range(0, 21).forEach((i) -> put("many", "customer-%02d".formatted(i)));
        schedules("soon").put(ScheduleDefinition.fixedRate("soon", Duration.ofMinutes(1)).build());
        JsonNode all = readAgain("soon", "soon");

        assertThat(names(all)).contains("customer-00", "soon").doesNotContain("customer-20");
        assertThat(all.at("/schedules/0/queue").asString()).isIn("soon", "outcomes");
        assertThat(all.path("more").toString()).contains("\"many\"");
        assertThat(all.path("unread")).isEmpty();
    }

    /** Reads the list until no queue is left, because a request reads for 200 ms only. */
    private static JsonNode allQueues() {
        return await().pollDelay(Duration.ZERO).until(() -> view("schedules"), (all) -> all.path("left").asInt() == 0);
    }

    /** Reads the list after a change, once the node knows the queue. */
    private static JsonNode readAgain(String queue, String name) {
        String one = "queues/%s/schedules/by-name/pause?name=%s".formatted(queue, name);
        return await().until(() -> {
            change("PUT", one);
            change("DELETE", one);
            return allQueues();
        }, (all) -> all.path("schedules").findValuesAsString("queue").contains(queue));
    }

    /** The list is kept for ten seconds otherwise. */
    @Test
    void theListOfAllQueuesIsReadAgainAfterAChange() {
        put("changed", "daily");
        readAgain("changed", "daily");
        change("PUT", "queues/changed/schedules/by-name/pause?name=daily");
        assertThat(isPaused(allQueues(), "changed")).isTrue();

        change("DELETE", "queues/changed/schedules/by-name/pause?name=daily");

        assertThat(isPaused(allQueues(), "changed")).isFalse();
    }

    private static boolean isPaused(JsonNode page, String queue) {
        return StreamSupport.stream(page.path("schedules").spliterator(), false)
            .filter((one) -> one.path("queue").asString().equals(queue))
            .findFirst()
            .orElseThrow()
            .path("paused")
            .asBoolean();
    }

    private static void change(String method, String path) {
        assertThat(server.call("operate", method, DATA + path, method.equals("DELETE") ? null : "{}").status())
            .isEqualTo(200);
    }

    @Test
    void changesArePublishedWithTheNameOfTheSchedule() {
        put("audited", "daily");
        String one = DATA + "queues/audited/schedules/by-name";
        server.call("operate", "PUT", one + "/pause?name=daily", "{}");
        server.call("operate", "PUT", one + "/pause?name=daily", "{}");
        server.call("operate", "DELETE", one + "/pause?name=daily", null);
        server.call("operate", "POST", one + "/trigger?name=daily", "{}");
        server.call("operate", "DELETE", one + "?name=daily", null);

        assertThat(server.audited().stream().filter((event) -> "audited".equals(event.queue())))
            .extracting(AuditedOperationEvent::operation, AuditedOperationEvent::filter, AuditedOperationEvent::count)
            .containsExactly(Tuple.tuple("pause-schedule", "daily", 1L), Tuple.tuple("pause-schedule", "daily", 0L),
                    Tuple.tuple("resume-schedule", "daily", 1L), Tuple.tuple("trigger-schedule", "daily", 1L),
                    Tuple.tuple("remove-schedule", "daily", 1L));
    }

    @Test
    void aQueueWithSchedulesIsNotForgotten() {
        server.operations()
            .send(DelayedMessage.builder("scheduled-only", Map.of()).id("m").delay(Duration.ofHours(1)).build());
        server.operations().cancel("scheduled-only", "m");
        put("scheduled-only", "daily");

        Reply refused = server.call("operate", "DELETE", DATA + "queues/scheduled-only", null);

        assertThat(refused.status()).isEqualTo(409);
        assertThat(refused.detail()).contains("has schedules");
        assertThat(view("queues/scheduled-only").path("schedules").asBoolean()).isTrue();
        schedules("scheduled-only").remove("daily");
        assertThat(server.call("operate", "DELETE", DATA + "queues/scheduled-only", null).status()).isEqualTo(204);
    }

}
