package io.delayqueue.web.dashboard;

import java.time.Duration;
import java.util.Map;

import io.delayqueue.DelayedMessage;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.web.Browser;
import io.delayqueue.web.DashboardSite;
import io.delayqueue.web.DashboardSite.Shop;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.By;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Uses the dashboard as a viewer, on a Redis that hangs now and then. Skipped if there is
 * no Chromium.
 */
@Tag("server")
@Tag("matrix")
class DashboardViewerTests {

    private static RedisServer redis;

    private static DashboardSite site;

    private static Browser browser;

    @BeforeAll
    static void start() {
        redis = RedisServer.start(RedisBinary.REDIS_7_0);
        site = DashboardSite.open(redis, "view", "2s");
        browser = site.browser();
    }

    @AfterAll
    static void stop() {
        if (site != null) {
            site.close();
        }
        if (redis != null) {
            redis.close();
        }
    }

    /** Behind a load balancer the nodes answer in turn; one of them restarts. */
    @Test
    void addsUpTheCountsOfAllNodes() {
        assertThat(browser
            .run("""
                    return load('./throughput.js').then(({ follow }) => {
                      const track = [];
                      const seen = [['a', 0, [[2000, 5]]], ['b', 1, []], ['a', 2, [[2000, 15]]], ['b', 3, [[2000, 86], [900000, 4]]]]
                        .map(([node, at, lateness]) => follow(track, at * 1000, { node, lateness }));
                      const restarted = follow(track, 4000, { node: 'c', lateness: [[2000, 1]] });
                      const later = follow(track, 90000, { node: 'a', lateness: [[2000, 500]] });
                      return JSON.stringify([...seen, restarted, later]);
                    });"""))
            .isEqualTo("""
                    [null,null,{"nodes":1,"rate":5,"p50":2,"p95":2,"p99":2},\
                    {"nodes":2,"rate":50,"p50":2,"p95":2,"p99":900},\
                    {"nodes":2,"rate":50,"p50":2,"p95":2,"p99":900},null]""");
    }

    @Test
    void aViewerIsOfferedNeitherCauseSearchNorChanges() {
        Shop.broken = true;
        site.operations()
            .send(DelayedMessage.builder("receipts", Map.of("order", 42)).id("receipt-1").delay(Duration.ZERO).build());
        await().until(() -> site.operations().statistics("receipts").dead() == 1);
        Shop.broken = false;
        browser.run("location.hash = '#/queues/receipts/dead-letters'");
        browser.awaitText("receipt-1");
        assertThat(browser.text()).contains("Filter", "java.lang.IllegalStateException")
            .doesNotContain("Cause contains", "out of paper", "Redrive", "Purge");
        assertThat(browser.driver().findElements(By.name("idPrefix"))).hasSize(1);
        assertThat(browser.driver().findElements(By.name("causeContains"))).isEmpty();
        browser.click("main a", "receipt-1");
        browser.awaitText("the authority DELAYQUEUE_PAYLOAD is required to read them");
        assertThat(browser.text()).doesNotContain("out of paper");
    }

    @Test
    void aViewerSeesSchedulesWithoutActions() {
        site.operations()
            .schedules("receipts")
            .put(ScheduleDefinition.cron("daily", "0 0 6 * * *").payload(Map.of("card", 4711)).build());
        browser.run("location.hash = '#/queues/receipts/schedules'");
        browser.click("main a", "daily");
        browser.awaitText("Schedule daily");
        browser.awaitText("the authority DELAYQUEUE_PAYLOAD is required to read it");
        assertThat(browser.text()).doesNotContain("4711", "Pause …", "Trigger", "Remove");
    }

    @Test
    void showsABannerWhileRedisDoesNotAnswer() {
        browser.run("location.hash = '#/alerts'");
        browser.awaitText("Alerts");
        redis.suspend();
        try {
            browser.awaitText("has not answered since");
            assertThat(browser.find("main [role=alert]").getText()).contains("Redis at localhost:" + redis.port(),
                    "Still works");
            assertThat(browser.text()).contains("The data below is as of", "This page retries automatically");
            assertThat(browser.find("main").getDomAttribute("class")).isEqualTo("stale");
            browser.driver().get(site.address() + "?fresh#/");
            browser.awaitText("Redis at localhost:%d has not answered since".formatted(redis.port()));
        }
        finally {
            redis.resume();
        }
        await().atMost(Duration.ofMinutes(1))
            .untilAsserted(
                    () -> assertThat(browser.text()).contains("All queues").doesNotContain("has not answered since"));
        assertThat(browser.driver().findElements(By.cssSelector("main [role=alert]"))).isEmpty();
    }

}
