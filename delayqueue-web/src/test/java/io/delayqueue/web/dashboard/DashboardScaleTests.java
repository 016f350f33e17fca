package io.delayqueue.web.dashboard;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.delayqueue.DelayedMessage;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.web.Browser;
import io.delayqueue.web.DashboardSite;
import io.delayqueue.web.PastActivity;
import io.delayqueue.web.consume.ApiServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Opens the dashboard with a thousand queues, and prints when its data arrived;
 * {@code -Ddq.dashboard.messages} is the number of messages in them. Skipped if there is
 * no Chromium.
 */
@Tag("server")
class DashboardScaleTests {

    private static final int QUEUES = 1_000;

    private static final int MESSAGES = Integer.getInteger("dq.dashboard.messages", 2_000);

    private static final int BATCH = 1_000;

    /**
     * When each kind of data had arrived, in milliseconds since the page was requested.
     */
    private static final String TIMES = """
            return performance.getEntriesByType('resource').filter((one) => one.name.includes('/data/'))
              .map((one) => `${one.name.split('/data/')[1]} after ${Math.round(one.responseEnd)} ms (${Math.round(one.responseEnd - one.requestStart)} ms of the server)`)
              .slice(0, 5).join(', ');""";

    @Test
    void showsAThousandQueues() {
        try (RedisServer redis = RedisServer.start(RedisBinary.REDIS_7_0);
                DashboardSite site = DashboardSite.open(redis, ApiServer.ALL, "30s");
                PastActivity past = new PastActivity(redis, "dashboard")) {
            send(site);
            past.ofAShop("order-timeout", "receipts");
            Browser browser = site.browser();
            for (String place : List.of("#/", "#/", "#/queues/order-timeout", "#/queues/many-500")) {
                browser.driver().get(site.address() + "?" + System.nanoTime() + place);
                await().untilAsserted(
                        () -> assertThat(browser.text()).contains(place.equals("#/") ? "All queues" : "Waiting"));
                System.out.printf("%s with %d messages, load %.1f: %s%n", place, MESSAGES,
                        ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage(), browser.run(TIMES));
            }
            assertThat(browser.find("section h2").getText()).isEqualTo("Messages");
            browser.driver().get(site.address() + "?" + System.nanoTime() + "#/");
            browser.awaitText("left out are many-0, many-1, many-10 and 995 others, without a listener.");
        }
    }

    private static void send(DashboardSite site) {
        List<DelayedMessage> batch = new ArrayList<>();
        for (int i = 0; i < Math.max(MESSAGES, QUEUES); i++) {
            batch.add(DelayedMessage.builder("many-" + i % (QUEUES - 2), Map.of("number", i))
                .delay(Duration.ofMinutes(10).plusSeconds(i % 1_000_000))
                .build());
            if (batch.size() == BATCH || i == Math.max(MESSAGES, QUEUES) - 1) {
                site.operations().sendAll(batch);
                batch.clear();
            }
        }
    }

}
