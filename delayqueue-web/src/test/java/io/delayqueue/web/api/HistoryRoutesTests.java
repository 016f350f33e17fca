package io.delayqueue.web.api;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Set;

import io.delayqueue.CancelResult;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.admin.AuditedOperationEvent;
import io.delayqueue.admin.HistoryEntry;
import io.delayqueue.admin.HistoryEntry.Event;
import io.delayqueue.admin.MessageHistory;
import io.delayqueue.web.consume.ApiServer;
import io.delayqueue.web.consume.ApiServer.Reply;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

/** Tests the answers of the history, and the authorities that they need. */
@Tag("server")
class HistoryRoutesTests {

    private static final String PATH = ApiServer.PATH + "/queues/orders/messages/by-id/history?id=";

    private static ApiServer server;

    @BeforeAll
    static void start() {
        server = ApiServer.start(RecordingApplication.class);
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    /** A cause may quote a payload. */
    @Test
    void causesAreReducedForCallersWithoutThePayloadAuthority() {
        Reply masked = server.call("view", "GET", PATH + "42", null);
        Reply open = server.get(PATH + "42");

        assertThat(masked.json().path("masked").asBoolean()).isTrue();
        assertThat(masked.body()).doesNotContain("4711");
        assertThat(masked.json().at("/entries/1/detail").asString()).isEqualTo("java.lang.IllegalStateException");
        assertThat(masked.json().at("/entries/0/detail").asString()).startsWith("SCHEDULED, due at");
        assertThat(open.json().path("masked").asBoolean()).isFalse();
        assertThat(open.json().at("/entries/1/detail").asString()).contains("card 4711");
        assertThat(open.json().at("/entries/1/attempt").asInt()).isEqualTo(1);
        assertThat(open.json().at("/entries/0/attempt").isNull()).isTrue();
    }

    @Test
    void anErasureIsAudited() {
        assertThat(server.call(ApiServer.ALL, "DELETE", PATH + "42", null).json().path("entries").asInt()).isEqualTo(7);

        assertThat(server.audited()).contains(new AuditedOperationEvent(ApiServer.ALL, "erase", "orders", "42", 3));
    }

    @Test
    void aDatabaseThatIsAwayIsAnUnavailableStore() {
        Reply reply = server.get(PATH + "away");

        assertThat(reply.status()).isEqualTo(503);
        assertThat(reply.problem()).isEqualTo("store-unavailable");
    }

    @Test
    void anApplicationWithoutAHistoryHasNoSuchResource() {
        Reply reply = ApiServer.shared().get(PATH + "42");

        assertThat(reply.status()).isEqualTo(404);
        assertThat(reply.detail()).contains("delayqueue.journal.mode");
    }

    /**
     * A queue that holds the id, waiting or as a dead letter, has a match of its own
     * kind.
     */
    @Test
    void aSearchFindsAnIdThatHasEndedInEachQueueThatNoLongerHoldsIt() {
        for (String queue : List.of("ended-a", "ended-b", "holds-it", "never-had-it")) {
            String id = queue.equals("holds-it") ? "e-1" : "other";
            server.operations().send(queue, id, "x", Duration.ofHours(1));
        }
        RecordingApplication.queues = Set.of("ended-a", "ended-b", "holds-it", "of-another-application");

        JsonNode found = server.call("view", "GET", ApiServer.PATH + "/search?id=e-1", null).json();

        assertThat(found.path("matches"))
            .extracting((match) -> match.path("queue").asString(), (match) -> match.path("kind").asString())
            .containsExactlyInAnyOrder(tuple("holds-it", "SCHEDULED"), tuple("ended-a", "ENDED"),
                    tuple("ended-b", "ENDED"));
        assertThat(found.path("historyUnread").booleanValue()).isFalse();
        assertThat(ApiServer.shared().get(ApiServer.PATH + "/search?id=e-1").json().path("historyUnread").isBoolean())
            .isTrue();
    }

    @Test
    void aSearchWhileTheDatabaseIsAwayFindsWhatRedisHolds() {
        server.operations().send("present", "away", "x", Duration.ofHours(1));

        Reply found = server.get(ApiServer.PATH + "/search?id=away");

        assertThat(found.status()).isEqualTo(200);
        assertThat(found.json().at("/matches/0/queue").asString()).isEqualTo("present");
        assertThat(found.json().path("historyUnread").booleanValue()).isTrue();
    }

    /** Has the same history of each message. */
    @Configuration(proxyBeanMethods = false)
    @Import(ApiServer.Application.class)
    static class RecordingApplication {

        static volatile Set<String> queues = Set.of();

        @Bean
        MessageHistory messageHistory() {
            return new MessageHistory() {

                @Override
                public List<HistoryEntry> of(String queue, String id) {
                    if (id.equals("away")) {
                        throw new StoreUnavailableException("away", Effect.NONE, null);
                    }
                    Instant at = Instant.parse("2026-01-01T00:00:00Z");
                    return List.of(new HistoryEntry(at, Event.SENT, "shop@host:42", null, "SCHEDULED, due at " + at),
                            new HistoryEntry(at, Event.FAILED, "shop@host:42", 1,
                                    "java.lang.IllegalStateException: card 4711 is blocked"));
                }

                @Override
                public List<String> queuesOf(String id, Collection<String> asked) {
                    if (id.equals("away")) {
                        throw new StoreUnavailableException("away", Effect.NONE, null);
                    }
                    return asked.stream().filter(queues::contains).toList();
                }

                @Override
                public Erasure erase(String queue, String id) {
                    return new Erasure(CancelResult.CANCELLED, 2, 7);
                }
            };
        }

    }

}
