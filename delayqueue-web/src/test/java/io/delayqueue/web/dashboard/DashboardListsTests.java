package io.delayqueue.web.dashboard;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import io.delayqueue.Backoff;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedMessage;
import io.delayqueue.Delivery;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.web.Browser;
import io.delayqueue.web.DashboardSite;
import io.delayqueue.web.DashboardSite.Shop;
import io.delayqueue.web.consume.ApiServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Checks that the lists of messages, dead letters and queues are complete and current, as
 * an operator decides by them. Skipped if there is no Chromium.
 */
@Tag("server")
@Tag("matrix")
class DashboardListsTests {

    private static final Duration LIMIT = Duration.ofMinutes(2);

    private static DashboardSite site;

    private static Browser browser;

    @BeforeAll
    static void start() {
        site = DashboardSite.open(RedisServer.shared(RedisBinary.REDIS_7_0), ApiServer.ALL, "5s", FailingShop.class);
        browser = site.browser();
    }

    @AfterAll
    static void stop() {
        if (site != null) {
            site.close();
        }
    }

    /** Opens an address in a page that has not seen another, as a shared link does. */
    private static void open(String place) {
        browser.driver().get(site.address() + "?" + System.nanoTime() + place);
    }

    private static DelayQueueOperations operations() {
        return site.operations();
    }

    /**
     * Returns a message whose attempts fail with these reasons, the last one repeatedly.
     */
    private static DelayedMessage failing(String queue, String id, String... reasons) {
        return DelayedMessage.builder(queue, Map.of("reasons", List.of(reasons))).id(id).delay(Duration.ZERO).build();
    }

    private static void awaitDead(long number) {
        await().atMost(LIMIT).until(() -> operations().statistics("prints").dead() == number);
    }

    @Test
    void goesOnListingDeadLettersWhenAPageHoldsNone() {
        operations().send(failing("prints", "oldest", "The printer is on fire"));
        awaitDead(1);
        operations()
            .sendAll(IntStream.range(0, 520).mapToObj((i) -> failing("prints", "newer-" + i, "Out of paper")).toList());
        awaitDead(521);
        open("#/queues/prints/dead-letters?idPrefix=oldest");
        browser.awaitText("None of the 500 dead letters of this page matches");
        assertThat(browser.text()).doesNotContain("No dead letter matches");
        browser.click("main button", "Next page");
        browser.click("section[aria-labelledby=dead-letters] tbody a", "oldest");
        browser.awaitText("The printer is on fire");

        open("#/queues/prints/dead-letters");
        browser.click("main a", "java.lang.IllegalStateException: The printer is on fire");
        browser.awaitText("None of the 500 dead letters of this page matches");
        browser.click("main button", "Next page");
        browser.awaitText("1 of the 21 dead letters examined for this page");
        operations().deadLetters("prints").purgeAll();
    }

    /**
     * Sends messages that fail twice, and waits until their third attempt is due in
     * hours.
     */
    private static void sendRetried(String... ids) {
        for (String id : ids) {
            operations().send(failing("labels", id, "The label is too long", "The printer of the labels is off"));
        }
        for (String id : ids) {
            await().atMost(LIMIT)
                .until(() -> operations().find("labels", id).filter((found) -> found.failures() == 2).isPresent());
        }
    }

    private static String rows() {
        return browser.find("section[aria-labelledby=messages] tbody").getText();
    }

    @Test
    void readsRetriedMessagesAgainAfterAChangeAndByAge() {
        sendRetried("l-1", "l-2", "l-3");
        open("#/queues/labels?list=retrying");
        browser.awaitText("3 messages; 3 examined");
        assertThat((List<?>) browser.violations()).isEmpty();
        assertThat(browser.text()).containsPattern("As of \\d\\d:\\d\\d:\\d\\d\\.");
        browser.click("input[type=checkbox]", "Choose l-1");
        browser.click("main button", "Cancel (1) …");
        browser.click("dialog button", "Cancel: 1 message");
        browser.awaitText("2 messages; 2 examined");
        assertThat(rows()).contains("l-2", "l-3").doesNotContain("l-1");

        operations().cancel("labels", "l-2");
        browser.run("const real = Date.now; Date.now = () => real() + 16_000;");
        browser.awaitText("1 message; 1 examined");
        assertThat(rows()).contains("l-3").doesNotContain("l-2");

        browser.click("main button", "Cancel: all matching …");
        browser.awaitText("Cancel: message l-3?");
        browser.click("dialog button", "Cancel: 1 message");
        browser.awaitText("There are no messages.");
    }

    @Test
    void tellsWhyMessagesFailByTwoClicks() {
        sendRetried("why");
        open("#/");
        browser.awaitText("All queues");
        browser.countClicks();
        browser.click("tbody a", "labels");
        browser.click(".tiles a[href='#/queues/labels?list=retrying']", "1");
        browser.awaitText("IllegalStateException: The printer of the labels is off");
        assertThat(browser.clicks()).isEqualTo(2);
        assertThat(rows()).contains("why", "in ");
        await().until(() -> Boolean.TRUE.equals(browser.run("""
                const { top, bottom } = document.querySelector('#messages').getBoundingClientRect();
                return document.activeElement.id === 'messages' && top > 0 && bottom < innerHeight;""")));
        operations().cancel("labels", "why");
    }

    @Test
    void showsFirstAndLastFailureAndTheNextAttempt() {
        sendRetried("twice");
        open("#/queues/labels/messages/twice");
        browser.awaitText("Next attempt");
        Map<?, ?> facts = (Map<?, ?>) browser.run("""
                return Object.fromEntries([...document.querySelectorAll('.facts > div')]
                  .map(({ children: [text, value] }) => [text.textContent, value.textContent]));""");
        assertThat(facts.get("Failures so far")).isEqualTo("2");
        assertThat(facts.get("First failure")).asString().contains("The label is too long").doesNotContain("is off");
        assertThat(facts.get("Last failure")).asString()
            .contains("The printer of the labels is off")
            .doesNotContain("too long");
        assertThat(facts.get("Next attempt")).asString().containsPattern("in (9 h 5\\d min|10 h)");
        operations().cancel("labels", "twice");
    }

    /**
     * Answers requests with this text in their address with a failure as long as
     * window.failing.
     */
    private static void failRequests(String text) {
        browser.run(
                """
                        const real = window.fetch;
                        window.failing = true;
                        window.failed = 0;
                        window.fetch = (...all) => {
                          if (window.failing && String(all[0]).includes(arguments[0])) {
                            window.failed++;
                            return Promise.resolve(new Response('{"title": "Unavailable", "detail": "Redis is away for the test"}',
                              { status: 503, headers: { 'Content-Type': 'application/problem+json' } }));
                          }
                          return real(...all);
                        };""",
                text);
    }

    private static void sendLater(String queue, String... ids) {
        for (String id : ids) {
            operations()
                .send(DelayedMessage.builder(queue, Map.of("order", 42)).id(id).delay(Duration.ofHours(1)).build());
        }
    }

    @Test
    void goesOnWithASearchThatWasInterrupted() {
        sendLater("searched", "found-1", "found-2");
        sendLater("searched-too", "found-1");
        for (String place : List.of("#/search/found-1", "#/search/found-/searched")) {
            open("#/");
            browser.awaitText("All queues");
            failRequests(place.endsWith("searched") ? "/scan" : "data/search");
            browser.run("location.hash = arguments[0]", place);
            browser.awaitText("The search was interrupted: Redis is away for the test");
            browser.awaitText("Search again");
            await().until(() -> (Long) browser.run("return window.failed"), (failed) -> failed > 1);
            browser.run("window.failing = false");
            browser.awaitText(place.endsWith("searched") ? "2 matches" : "searched-too: waiting");
            await().until(() -> !browser.text().contains("interrupted"));
        }
        sendLater("searched", "found-3");
        browser.click("main button", "Search again");
        browser.awaitText("3 matches");
    }

    /** Another queue, or the history, may hold the id as well. */
    @ParameterizedTest
    @CsvSource({ "unread,These could not be read: broken", "historyUnread,The history of messages could not be read" })
    void showsTheOnlyMatchOfASearchThatCouldNotReadAll(String field, String text) {
        sendLater("searched", "only-match");
        open("#/");
        browser.awaitText("All queues");
        browser.run("""
                const real = window.fetch;
                window.fetch = async (...all) => {
                  const answer = await real(...all);
                  if (!String(all[0]).includes('data/search')) {
                    return answer;
                  }
                  const part = await answer.json();
                  part[arguments[0]] = arguments[0] === 'unread' ? ['broken'] : true;
                  return new Response(JSON.stringify(part), { headers: { 'Content-Type': 'application/json' } });
                };
                location.hash = '#/search/only-match';""", field);
        browser.awaitText(text);
        browser.awaitText("searched: waiting");
        assertThat(browser.run("return location.hash")).isEqualTo("#/search/only-match");
    }

    @Test
    void collectsAListAgainThatHasFailed() {
        sendLater("searched", "listed-1");
        open("#/queues/searched");
        browser.awaitText("listed-1");
        failRequests("/scan");
        browser.run("location.hash = '#/queues/searched?prefix=listed-'");
        browser.awaitText("Redis is away for the test");
        browser.run("window.failing = false");
        browser.awaitText("1 message; ");
        assertThat(browser.text()).doesNotContain("Redis is away for the test");
    }

    @Test
    void stopsASearch() {
        sendLater("searched", "stopped-1");
        open("#/queues/searched");
        browser.awaitText("Queue searched");
        browser.run("""
                const real = window.fetch;
                window.fetch = async (...all) => {
                  if (String(all[0]).includes('/scan')) {
                    await new Promise((done) => { window.answer = done; });
                  }
                  const answer = await real(...all);
                  window.answered ||= String(all[0]).includes('/scan');
                  return answer;
                };
                location.hash = '#/search/stopped-/searched';""");
        browser.awaitText("0 matches, 0 entries examined so far");
        browser.click("main button", "Stop");
        browser.awaitText("0 matches, 0 entries examined; stopped.");
        assertThat(browser.run("return document.activeElement.textContent")).isEqualTo("Search again");
        browser.run("window.answer()");
        await().atMost(LIMIT).until(() -> Boolean.TRUE.equals(browser.run("return window.answered")));
        assertThat(browser.text()).contains("0 matches, 0 entries examined; stopped.");
    }

    @Test
    void stopsASearchInAllQueuesAndBeginsItAnew() {
        sendLater("searched", "anew");
        sendLater("searched-too", "anew");
        open("#/");
        browser.awaitText("All queues");
        browser.run("""
                const real = window.fetch;
                window.answers = [];
                window.fetch = async (...all) => {
                  if (String(all[0]).includes('data/search')) {
                    await new Promise((done) => { window.answers.push(done); });
                  }
                  return real(...all);
                };
                location.hash = '#/search/anew';""");
        browser.awaitText("0 queues searched so far …");
        browser.click("main button", "Stop");
        browser.awaitText("0 queues searched; stopped.");
        browser.click("main button", "Search again");
        await().atMost(LIMIT).until(() -> (Long) browser.run("return window.answers.length"), (begun) -> begun == 2);
        browser.run("window.answers.forEach((answer) => answer())");
        browser.awaitText("searched-too: waiting");
        assertThat((List<?>) browser
            .run("return [...document.querySelectorAll('main li')].map(({ textContent }) => " + "textContent)"))
            .hasSize(2);
    }

    /**
     * A list that cannot be read is not read again with each refresh of the page. The
     * page keeps a list for longer the longer its search took, so hours pass here.
     */
    @Test
    void readsAListRarelyThatHasFailed() {
        sendLater("searched", "rare-1");
        open("#/queues/searched?prefix=rare-");
        browser.awaitText("1 message; ");
        failRequests("/scan");
        browser.run("""
                const fixed = Date.now();
                window.ahead = 3_600_000;
                Date.now = () => fixed + window.ahead;""");
        browser.awaitText("Redis is away for the test");
        browser.run("""
                const real = window.fetch;
                window.refreshes = 0;
                window.fetch = (...all) => {
                  window.refreshes += String(all[0]).includes('/due-histogram') ? 1 : 0;
                  return real(...all);
                };""");
        await().atMost(LIMIT).until(() -> (Long) browser.run("return window.refreshes"), (refreshes) -> refreshes > 2);
        assertThat(browser.run("return window.failed")).isEqualTo(1L);
        browser.run("window.failing = false; window.ahead = 7_200_000;");
        await().atMost(LIMIT).until(() -> !browser.text().contains("Redis is away for the test"));
        assertThat(rows()).contains("rare-1");
    }

    @Test
    void copiesTheCauseOfADeadLetter() {
        operations().send(failing("prints", "copied", "The printer is on fire"));
        awaitDead(1);
        String deadLetter = operations().deadLetters("prints").list(null, 1).deadLetters().get(0).id();
        open("#/queues/prints/dead-letters/" + deadLetter);
        browser.awaitText("The printer is on fire");
        browser.run("navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }");
        browser.click("main button", "Copy cause");
        browser.awaitText("The cause is copied");
        assertThat(browser.run("return window.copied")).asString()
            .startsWith("java.lang.IllegalStateException: The printer is on fire")
            .isEqualTo(operations().deadLetters("prints").find(deadLetter).orElseThrow().cause());
        operations().deadLetters("prints").purgeAll();
    }

    private static long queues() {
        return (Long) browser.run("return document.querySelectorAll('[aria-labelledby=all-queues] tbody tr').length");
    }

    @Test
    void keepsTheNumberOfShownQueuesInTheAddress() {
        operations().sendAll(IntStream.range(0, 120)
            .mapToObj((i) -> DelayedMessage.builder("shown-%03d".formatted(i), Map.of())
                .delay(Duration.ofHours(9))
                .build())
            .toList());
        open("#/?filter=shown-");
        browser.click("main button", "Show 50 more of 120");
        await().until(() -> queues() == 100);
        assertThat(browser.run("return location.hash")).isEqualTo("#/?filter=shown-&rows=100");
        browser.driver().navigate().refresh();
        browser.awaitText("Show 20 more of 120");
        assertThat(queues()).isEqualTo(100);
        browser.click("tbody a", "shown-099");
        browser.awaitText("Queue shown-099");
        browser.driver().navigate().back();
        browser.awaitText("Show 20 more of 120");
        browser.click("th button", "Waiting");
        await().until(() -> queues() == 50);
        assertThat(browser.run("return location.hash")).isEqualTo("#/?filter=shown-&sort=scheduled&order=down");
    }

    /** A shop whose labels are retried, and whose prints are not. */
    @Configuration(proxyBeanMethods = false)
    @Import(Shop.class)
    static class FailingShop {

        @Bean
        Failures failures() {
            return new Failures();
        }

    }

    static class Failures {

        @DelayedListener("prints")
        void print(Map<String, Object> print, Delivery delivery) {
            fail(print, delivery);
        }

        /** The second attempt begins at once, the third in ten hours. */
        @DelayedListener(value = "labels", maxAttempts = "5",
                backoff = @Backoff(initial = "100ms", multiplier = "360000", max = "10h", jitter = "0"))
        void label(Map<String, Object> label, Delivery delivery) {
            fail(label, delivery);
        }

        private static void fail(Map<String, Object> payload, Delivery delivery) {
            List<?> reasons = (List<?>) payload.getOrDefault("reasons", List.of("No reason"));
            throw new IllegalStateException(
                    String.valueOf(reasons.get(Math.min(delivery.attempt(), reasons.size()) - 1)));
        }

    }

}
