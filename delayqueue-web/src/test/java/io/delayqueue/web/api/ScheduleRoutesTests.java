package io.delayqueue.web.api;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.QueueName;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.ScheduleOperations;
import io.delayqueue.store.routing.StoreComponents;
import io.delayqueue.store.schedule.ScheduleChange;
import io.delayqueue.store.schedule.ScheduleState;
import io.delayqueue.store.schedule.ScheduleStore;
import io.delayqueue.web.consume.ApiServer;
import io.delayqueue.web.consume.ApiServer.Reply;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests what callers see of schedules, and how they change them. */
@Tag("server")
class ScheduleRoutesTests {

    private static final String LIST = ApiServer.PATH + "/queues/scheduled-reports/schedules";

    private static final String ONE = "?name=customer/42";

    private final ScheduleOperations schedules = ApiServer.shared()
        .bean(DelayQueueOperations.class)
        .schedules("scheduled-reports");

    @BeforeEach
    void put() {
        this.schedules.remove("customer/42");
        this.schedules.put(ScheduleDefinition.cron("customer/42", "0 0 6 * * *").payload(Map.of("card", 4711)).build());
    }

    private static Reply call(String method, String path) {
        return ApiServer.shared().call("operate", method, LIST + path, method.equals("GET") ? null : "{}");
    }

    @Test
    void payloadsNeedTheirAuthority() {
        Reply masked = ApiServer.shared().call("view", "GET", LIST, null);
        Reply open = ApiServer.shared().get(LIST);

        assertThat(masked.body()).doesNotContain("4711");
        assertThat(masked.json().at("/schedules/0/masked").asBoolean()).isTrue();
        assertThat(open.json().at("/schedules/0/payload/card").asInt()).isEqualTo(4711);
        assertThat(open.json().at("/schedules/0/cron").asString()).isEqualTo("0 0 6 * * *");
        assertThat(open.json().at("/schedules/0/nextAt").asString()).contains("T06:00:00");
        assertThat(open.json().at("/nextCursor").isNull()).isTrue();
    }

    @Test
    void aScheduleThatIsNotReadableIsListedApartAndHoldsItsQueue() {
        DelayQueueOperations operations = ApiServer.shared().bean(DelayQueueOperations.class);
        operations.cancel("broken-reports", operations.send("broken-reports", "x", Duration.ofDays(1)).id());
        QueueName queue = new QueueName("broken-reports");
        ScheduleStore store = ApiServer.shared().bean(StoreComponents.class).schedules().store();
        long due = Instant.now().plus(Duration.ofDays(1)).toEpochMilli();
        store
            .change(queue,
                    new ScheduleChange("broken", null, new ScheduleState(1, due, 0, due, 0, 0, false, "", "{}\n1"),
                            null, null))
            .join();

        JsonNode page = ApiServer.shared().get(ApiServer.PATH + "/queues/broken-reports/schedules").json();
        assertThat(page.at("/schedules")).isEmpty();
        assertThat(page.at("/unreadable/0/name").asString()).isEqualTo("broken");
        assertThat(page.at("/unreadable/0/reason").asString()).contains("not valid");
        Reply forgotten = ApiServer.shared().call("operate", "DELETE", ApiServer.PATH + "/queues/broken-reports", null);
        assertThat(forgotten.status()).isEqualTo(409);
        assertThat(forgotten.body()).contains("has schedules");

        operations.schedules("broken-reports").remove("broken");
    }

    /** The caller can correct it; nothing is wrong with the store. */
    @Test
    void aScheduleThatIsNotReadableIsNotChangedAndTheReasonIsReturned() {
        ScheduleStore store = ApiServer.shared().bean(StoreComponents.class).schedules().store();
        store
            .change(new QueueName("damaged-reports"),
                    new ScheduleChange("damaged", null, ScheduleState.UNREADABLE, null, null))
            .join();
        String one = ApiServer.PATH + "/queues/damaged-reports/schedules/by-name";

        Reply paused = ApiServer.shared().call("operate", "PUT", one + "/pause?name=damaged", "{}");
        Reply triggered = ApiServer.shared().call("operate", "POST", one + "/trigger?name=damaged", "{}");

        assertThat(List.of(paused, triggered)).allSatisfy((reply) -> {
            assertThat(reply.problem()).isEqualTo("store-refused");
            assertThat(reply.json().path("effect").asString()).isEqualTo("NONE");
            assertThat(reply.detail()).isEqualTo("Schedule 'damaged' of queue 'damaged-reports' is not readable, "
                    + "nothing was changed; put it again, or remove it");
        });
        assertThat(ApiServer.shared().call("operate", "DELETE", one + "?name=damaged", null).status()).isEqualTo(200);
    }

    @Test
    void aScheduleHasItsNextTenTimes() {
        Reply reply = ApiServer.shared().get(LIST + "/by-name" + ONE);

        assertThat(reply.json().at("/schedule/name").asString()).isEqualTo("customer/42");
        assertThat(reply.json().at("/following")).hasSize(10).first().isEqualTo(reply.json().at("/schedule/nextAt"));
    }

    @Test
    void aScheduleIsPausedResumedTriggeredAndRemoved() {
        assertThat(call("PUT", "/by-name/pause" + ONE).json().at("/result").asString()).isEqualTo("DONE");
        assertThat(this.schedules.find("customer/42").orElseThrow().paused()).isTrue();
        assertThat(call("DELETE", "/by-name/pause" + ONE).json().at("/result").asString()).isEqualTo("DONE");
        assertThat(call("POST", "/by-name/trigger" + ONE).json().at("/id").asString()).startsWith("@customer/42@")
            .endsWith("-triggered");
        assertThat(call("DELETE", "/by-name" + ONE).json().at("/result").asString()).isEqualTo("DONE");
        assertThat(this.schedules.find("customer/42")).isEmpty();
    }

    @Test
    void aScheduleThatDoesNotExistIsNotFoundAndANameIsChecked() {
        assertThat(call("POST", "/by-name/trigger?name=other").status()).isEqualTo(404);
        assertThat(call("PUT", "/by-name/pause?name=other").status()).isEqualTo(404);
        assertThat(call("DELETE", "/by-name?name=not%20valid").status()).isEqualTo(400);
        assertThat(ApiServer.shared().get(LIST + "?cursor=nonsense").status()).isEqualTo(400);
    }

}
