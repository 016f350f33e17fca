package io.delayqueue.web.dashboard;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.delayqueue.DelayedMessage;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.web.Browser;
import io.delayqueue.web.DashboardSite;
import io.delayqueue.web.consume.ApiServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Checks what the dashboard shows instead of data: while Redis does not answer, for what
 * does not exist, and without access. Skipped if there is no Chromium.
 */
@Tag("server")
@Tag("matrix")
class DashboardStatesTests {

    private static final Duration LIMIT = Duration.ofMinutes(2);

    private static RedisServer redis;

    private static DashboardSite site;

    private static Browser browser;

    @BeforeAll
    static void start() {
        redis = RedisServer.start(RedisBinary.REDIS_7_0);
        // Calls that hang do not fail before the page has to show the outage.
        // Requests that hang leave threads for those that do not.
        site = DashboardSite.open(redis, ApiServer.ALL, "60s", DashboardSite.Shop.class,
                "server.tomcat.threads.max=20");
        browser = site.browser();
        site.operations()
            .send(DelayedMessage.builder("invoices", Map.of("order", 42)).id("i-1").delay(Duration.ofHours(1)).build());
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

    /** Opens an address in a page that has not seen another, as a shared link does. */
    private static void open(String place) {
        browser.driver().get(site.address() + "?" + System.nanoTime() + place);
    }

    @Test
    void tellsAnUnknownQueueFromAnUnknownMessage() {
        for (String page : List.of("messages", "dead-letters")) {
            open("#/queues/never-used/%s/m-1".formatted(page));
            browser.awaitText("There is no queue of this name");
            assertThat(browser.text()).doesNotContain("does not hold", "no such dead letter");
            open("#/queues/invoices/%s/m-1".formatted(page));
            browser.awaitText(page.equals("messages") ? "Queue invoices does not hold this message"
                    : "There is no such dead letter, or no longer");
            assertThat(browser.text()).doesNotContain("There is no queue of this name");
        }
    }

    @Test
    void isAccessibleWithoutDataInLightAndDark() {
        for (String scheme : List.of("light", "dark")) {
            browser.scheme(scheme);
            for (var page : Map
                .of("#/queues/never-used", "There is no queue of this name", "#/search/i-", "queues searched.",
                        "#/search/i-/invoices", "1 match", "#/queues/invoices?list=retrying", "There are no messages",
                        "#/nowhere", "No such page", "#/queues/never-used/messages/m-1", "There is no queue")
                .entrySet()) {
                open(page.getKey());
                browser.awaitText(page.getValue());
                assertThat((List<?>) browser.violations()).as(page.getKey() + " in " + scheme).isEmpty();
            }
        }
        browser.scheme("light");
    }

    @Test
    void thePageOfAPersonWithoutAccessIsAccessible() {
        try (Browser another = Browser.open()) {
            another.visit(URI.create(site.address()).getPort(), ApiServer.NONE, URI.create(site.address()).getPath());
            another.awaitText("You have no access to this dashboard");
            for (String scheme : List.of("light", "dark")) {
                another.scheme(scheme);
                assertThat((List<?>) another.violations()).as(scheme).isEmpty();
            }
        }
    }

    /** The node takes a read for an outage after 900 ms. */
    @Test
    void asksForAnOutageInTimeToShowItWithinThreeSeconds() {
        List<?> intervals = (List<?>) browser.run("return import(document.querySelector('script[type=module]').src)"
                + ".then(({ FASTEST, PATIENCE }) => [FASTEST, PATIENCE])");
        long patience = (Long) intervals.get(1);
        assertThat(patience).isBetween(901L, 1_100L);
        assertThat((Long) intervals.get(0) + patience).isLessThanOrEqualTo(2_700);
    }

    /**
     * The session of the user ends, or a proxy limits requests: the page cannot know what
     * has changed since.
     */
    @Test
    void greysDataWhenRequestsAreRejected() {
        Map.of(401, "Your session has ended", 403, "status 403", 429, "status 429").forEach((status, reason) -> {
            open("#/");
            browser.awaitText("All queues");
            browser.run("window.fetch = () => Promise.resolve(new Response('', { status: arguments[0] }))", status);
            browser.awaitText(reason);
            browser.awaitText("The data below is as of");
            assertThat(browser.find("main").getDomAttribute("class")).as(reason).isEqualTo("stale");
        });
    }

    /** A proxy returns its login page with status 200, for data and for a change. */
    @Test
    void takesAPageOfAProxyNeitherForDataNorForAResult() {
        open("#/queues/invoices");
        browser.click("main button", "Pause queue …");
        browser.run("""
                window.fetch = () => Promise.resolve(new Response('<title>Log in</title>',
                  { headers: { 'Content-Type': 'text/html;charset=UTF-8' } }));""");
        browser.click("dialog button", "Pause on every node");
        await().until(() -> browser.find("dialog").getText().contains("Something other than the application"));
        assertThat(browser.text()).doesNotContain("Queue invoices is paused");
        browser.click("dialog button", "Keep as it is");
        browser.awaitText("Unexpected response since");
        assertThat(browser.find("main").getDomAttribute("class")).isEqualTo("stale");
    }

    @Test
    void saysOfWhichTimeTheDataAreWhileUpdatesArePaused() {
        open("#/");
        browser.awaitText("All queues");
        browser.click("header button", "Pause updates");
        browser.awaitText("Updates are paused. The data below is as of");
        browser.click("header button", "Pause updates");
        await().until(() -> !browser.text().contains("The data below is as of"));
    }

    /** A computer wakes up without a network, and the page waits for an answer. */
    @Test
    void saysOfWhichTimeTheDataAreWhileAnAnswerTakesLong() {
        open("#/");
        browser.awaitText("All queues");
        browser.holdRequests("true");
        browser.awaitHeldRequest();
        browser.run("const real = Date.now; Date.now = () => real() + 3_600_000;");
        browser.awaitText("The data below is as of");
        browser.resumeRequests();
        await().until(() -> !browser.text().contains("The data below is as of"));
    }

    /** The list of queues is answered, and Redis hangs from then on. */
    @Test
    void showsAnOutageThatBeginsWhileAViewIsLoaded() {
        open("#/queues/invoices");
        browser.awaitText("Queue invoices");
        browser.run("""
                const real = window.fetch;
                let known = null;
                window.failed = 0;
                window.fetch = async (...all) => {
                  if (String(all[0]).includes('data/overview')) {
                    known ??= await (await real(...all)).text();
                    window.known = true;
                    return new Response(known, { headers: { 'Content-Type': 'application/json' } });
                  }
                  try {
                    return await real(...all);
                  }
                  catch (failure) {
                    window.failed++;
                    throw failure;
                  }
                };""");
        await().until(() -> browser.run("return window.known"), Boolean.TRUE::equals);
        redis.suspend();
        try {
            browser.awaitText("Redis at localhost:%d has not answered since".formatted(redis.port()));
            assertThat(browser.run("return window.failed")).as("requests that failed before").isEqualTo(0L);
            assertThat(browser.find("main").getDomAttribute("class")).isEqualTo("stale");
            for (String scheme : List.of("dark", "light")) {
                browser.scheme(scheme);
                assertThat((List<?>) browser.violations()).as(scheme).isEmpty();
            }
        }
        finally {
            redis.resume();
        }
        open("#/");
        await().atMost(LIMIT)
            .untilAsserted(
                    () -> assertThat(browser.text()).contains("All queues").doesNotContain("has not answered since"));
    }

}
