package io.delayqueue.web.dashboard;

import java.time.Duration;
import java.util.Map;

import io.delayqueue.DelayedMessage;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.web.Browser;
import io.delayqueue.web.DashboardSite;
import io.delayqueue.web.DashboardSite.Shop;
import io.delayqueue.web.consume.ApiServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Lets Redis hang, and reads from the plots of a new tab that it did. Skipped if there is
 * no Chromium.
 */
@Tag("server")
@Tag("matrix")
class DashboardOutageActivityTests {

    private static final Duration LIMIT = Duration.ofMinutes(2);

    private static final String MINUTES = """
            return fetch('data/queues/order-timeout/activity').then((answer) => answer.json())
              .then(({ minutes }) => minutes.filter((minute) => minute[arguments[0]]).length);""";

    private static long minutes(Browser browser, String field) {
        return (Long) browser.run(MINUTES, field);
    }

    private static void handle(DashboardSite site, String id) {
        site.operations().send(DelayedMessage.builder("order-timeout", Map.of()).id(id).delay(Duration.ZERO).build());
        await().atMost(LIMIT).until(() -> Shop.handled.contains(id));
    }

    @Test
    void anOutageOfRedisIsABandAfterwards() {
        try (RedisServer redis = RedisServer.start(RedisBinary.REDIS_7_0);
                DashboardSite site = DashboardSite.open(redis, ApiServer.ALL, "1s")) {
            Browser browser = site.browser();
            handle(site, "before");
            await().atMost(LIMIT).until(() -> minutes(browser, "started") > 0);
            assertThat(minutes(browser, "unanswered")).isZero();
            browser.driver().get(site.address() + "?again#/queues/order-timeout");
            browser.awaitText("Handlers per minute");
            redis.suspend();
            browser.awaitText("has not answered since");
            assertThat(browser.find("main.stale .plots canvas").isDisplayed()).isTrue();
            // Real time: the next report of the node must have no answer.
            await().during(Duration.ofSeconds(9)).atMost(Duration.ofSeconds(30)).until(() -> true);
            redis.resume();

            await().atMost(LIMIT)
                .ignoreExceptions()
                .untilAsserted(() -> assertThat(minutes(browser, "unanswered")).isPositive());
            handle(site, "after");
            browser.driver().get(site.address() + "?afterwards#/");
            await().atMost(LIMIT).until(() -> Boolean.TRUE.equals(browser.run("""
                    return document.querySelector("canvas[data-plot='activity-handlers']")
                      ?.plot.bands.some((band) => band.kind === 'outage');""")));
            assertThat(browser.text()).contains("Redis did not answer a node");
        }
    }

}
