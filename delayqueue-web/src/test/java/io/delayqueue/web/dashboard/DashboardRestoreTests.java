package io.delayqueue.web.dashboard;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.delayqueue.DelayedMessage;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.journal.RestorePlan;
import io.delayqueue.web.Browser;
import io.delayqueue.web.DashboardSite;
import io.delayqueue.web.Ledger;
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

/** Tests the restore of a queue on its page, in a browser. */
@Tag("server")
@Tag("matrix")
class DashboardRestoreTests {

    private static DashboardSite site;

    private static Browser browser;

    @BeforeAll
    static void start() {
        site = DashboardSite.open(RedisServer.shared(RedisBinary.REDIS_7_0), ApiServer.ALL, "5s", LedgerShop.class);
        browser = site.browser();
        for (String queue : List.of("order-timeout", "receipts")) {
            site.operations()
                .send(DelayedMessage.builder(queue, Map.of("order", 1)).id("o-1").delay(Duration.ofHours(1)).build());
        }
    }

    @AfterAll
    static void stop() {
        if (site != null) {
            site.close();
        }
    }

    @Test
    void aRestoreBeginsWithACountAndEndsWithTheResult() {
        LedgerShop.ledger.plans().clear();
        browser.run("location.hash = '#/queues/order-timeout'");
        browser.awaitText("Restore …");

        browser.click("main button", "Restore …");
        browser.awaitText("Redis may have lost 1,198 messages of the ledger, which has 1,200.");
        assertThat(LedgerShop.ledger.plans()).containsOnly(RestorePlan.all().queue("order-timeout").asDryRun())
            .hasSize(3);
        browser.run("document.querySelector('dialog [name=rate]').value = '5000'");
        browser.click("dialog button", "Restore: 1,198 messages");

        browser.awaitText("1,198 messages restored, 2 known to Redis, 3 left out as expired, 1 failed: restore again");
        assertThat(LedgerShop.ledger.plans().subList(3, 6))
            .containsOnly(RestorePlan.all().queue("order-timeout").rate(5000));
        assertThat((List<?>) browser.violations()).isEmpty();
    }

    /** The count takes long, and the user opens another page meanwhile. */
    @Test
    void aCountWhosePageIsLeftOffersNothing() {
        LedgerShop.ledger.plans().clear();
        browser.run("location.hash = '#/queues/order-timeout'");
        browser.holdRequests("url.pathname.endsWith('/restore')");
        browser.click("main button", "Restore …");
        browser.awaitHeldRequest();
        browser.run("location.hash = '#/nodes'");
        await().until(() -> "Nodes – DelayQueue".equals(browser.driver().getTitle()));

        browser.resumeRequests();

        await().until(() -> "".equals(browser.run("return document.getElementById('result').textContent")));
        assertThat(LedgerShop.ledger.plans()).hasSize(1);
        assertThat(browser.run("return document.getElementById('dialog').open")).isEqualTo(false);
    }

    @Test
    void aQueueWithoutALedgerHasNoSuchButton() {
        browser.run("location.hash = '#/queues/receipts'");

        browser.awaitText("Queue receipts");
        browser.awaitText("Pause queue …");
        assertThat(browser.text()).doesNotContain("Restore …");
    }

    /** Has a ledger of one of its queues. */
    @Configuration(proxyBeanMethods = false)
    @Import(DashboardSite.Shop.class)
    static class LedgerShop {

        static final Ledger ledger = new Ledger("order-timeout");

        @Bean
        Ledger ledger() {
            return ledger;
        }

    }

}
