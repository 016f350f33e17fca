package io.delayqueue.web.dashboard;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

import io.delayqueue.CancelResult;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.DelayedMessage;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.admin.HistoryEntry;
import io.delayqueue.admin.HistoryEntry.Event;
import io.delayqueue.admin.MessageHistory;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.web.Browser;
import io.delayqueue.web.DashboardSite;
import io.delayqueue.web.consume.ApiServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests the transitions on the page of a message, in a browser. */
@Tag("server")
@Tag("matrix")
class DashboardTransitionsTests {

    private static DashboardSite site;

    private static Browser browser;

    @BeforeAll
    static void start() {
        site = DashboardSite.open(RedisServer.shared(RedisBinary.REDIS_7_0), ApiServer.ALL, "5s", RecordingShop.class);
        browser = site.browser();
    }

    @AfterAll
    static void stop() {
        if (site != null) {
            site.close();
        }
    }

    @Test
    void showsWhatBecameOfAFinishedMessageAsTextAndErasesIt() {
        browser.complaints();
        browser.run("location.hash = '#/queues/order-timeout/messages/o-42'");
        browser.awaitText("The printer is out of paper");
        assertThat(browser.text()).contains("does not hold this message", "History", "claimed", "failed",
                "shop@host:42", "<script>window.hacked=1</script>");
        assertThat(browser.run("return window.hacked === undefined")).isEqualTo(true);
        assertThat((List<?>) browser.violations()).isEmpty();

        browser.click("main button", "Erase …");
        browser.awaitText("deleted permanently");
        browser.click("dialog button", "Erase: everything of this id");

        browser.awaitText("Erased: 0 dead letters, 3 transitions");
        browser.awaitText("No transition is recorded.");
        assertThat(RecordingShop.erased).containsExactly("o-42");
        // The browser reports that the message itself is not found, and slow reads of
        // plots.
        assertThat(browser.complaints())
            .allMatch((complaint) -> complaint.contains("404") || complaint.contains("Canvas2D"));
    }

    @Test
    void showsTheTransitionsOfAWaitingMessage() {
        site.operations()
            .send(DelayedMessage.builder("order-timeout", Map.of("order", 7))
                .id("o-7")
                .delay(Duration.ofHours(1))
                .build());

        browser.run("location.hash = '#/queues/order-timeout/messages/o-7'");

        browser.awaitText("The printer is out of paper");
        await().untilAsserted(() -> assertThat(browser.text()).contains("waiting", "Payload"));
    }

    @Test
    void anIdThatHasEndedIsFoundByTheSearchAndOpens() {
        site.operations().send("order-timeout", "waits", "x", Duration.ofHours(1));
        site.operations().send("receipts", "waits", "x", Duration.ofHours(1));

        browser.run("location.hash = '#/search/o-43'");
        await().untilAsserted(
                () -> assertThat(browser.run("return location.hash")).isEqualTo("#/queues/receipts/messages/o-43"));
        browser.awaitText("The printer is out of paper");

        browser.run("location.hash = '#/search/unread'");
        browser.awaitText("The history of messages could not be read");
    }

    /** Has a history of three transitions of each message, until it is erased. */
    @Configuration(proxyBeanMethods = false)
    @Import(DashboardSite.Shop.class)
    static class RecordingShop {

        static final List<String> erased = new CopyOnWriteArrayList<>();

        @Bean
        MessageHistory messageHistory() {
            return new MessageHistory() {

                @Override
                public List<HistoryEntry> of(String queue, String id) {
                    Instant at = Instant.parse("2026-01-01T00:00:00Z");
                    return erased.contains(id) ? List.of()
                            : List.of(new HistoryEntry(at, Event.SENT, "shop@host:42", null, DashboardSite.HOSTILE),
                                    new HistoryEntry(at.plusSeconds(1), Event.CLAIMED, "shop@host:42", 1, null),
                                    new HistoryEntry(at.plusSeconds(2), Event.FAILED, "shop@host:42", 1,
                                            "java.lang.IllegalStateException: The printer is out of paper"));
                }

                @Override
                public List<String> queuesOf(String id, Collection<String> queues) {
                    if (id.equals("unread")) {
                        throw new StoreUnavailableException("away", Effect.NONE, null);
                    }
                    return queues.stream().filter("receipts"::equals).toList();
                }

                @Override
                public Erasure erase(String queue, String id) {
                    int entries = of(queue, id).size();
                    erased.add(id);
                    return new Erasure(CancelResult.NOT_FOUND, 0, entries);
                }
            };
        }

    }

}
