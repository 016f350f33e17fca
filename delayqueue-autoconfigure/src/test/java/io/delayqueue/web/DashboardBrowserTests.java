package io.delayqueue.web;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedMessage;
import io.delayqueue.Delivery;
import io.delayqueue.testing.RedisBinary;
import io.delayqueue.testing.RedisServer;
import io.delayqueue.testing.RedisUser;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A person at the dashboard, on a real Redis: finds a message, watches it fire, cancels
 * one, redrives a dead letter, pauses a queue. Skipped where there is no Chromium.
 */
class DashboardBrowserTests {

    private static final String PAGE = "/shop/ops/delayqueue/";

    private static final Path SCREENSHOTS = Path.of("../docs/dashboard");

    private static final String HOSTILE = "<img src=x onerror=\"window.hacked=1\"><script>window.hacked=1</script>\u202e${7*7}{{7*7}}";

    private static RedisServer redis;

    private static ApiServer server;

    private static Browser browser;

    @BeforeAll
    static void start() {
        browser = Browser.open();
        redis = RedisServer.shared(RedisBinary.REDIS_7_0);
        clear();
        server = ApiServer.start(Shop.class,
                RedisUser.asAsked("spring.data.redis.port=" + redis.port(), "delayqueue.store=redis",
                        "delayqueue.namespace=dashboard", "delayqueue.web.api.enabled=false",
                        "delayqueue.web.dashboard.enabled=true", "delayqueue.web.dashboard.path=/ops/delayqueue",
                        "server.servlet.context-path=/shop", "delayqueue.listener.max-attempts=1"));
        browser.size(1280, 1000);
        browser.visit(server.port(), ApiServer.ALL, PAGE);
        browser.awaitText("Queues");
    }

    @AfterAll
    static void stop() {
        if (server != null) {
            server.close();
            clear();
        }
        if (browser != null) {
            browser.close();
        }
    }

    private static void clear() {
        List<String> keys = redis.commands().keys("dashboard:*");
        if (!keys.isEmpty()) {
            redis.commands().del(keys.toArray(String[]::new));
        }
    }

    private static DelayQueueOperations operations() {
        return server.operations();
    }

    private static void go(String place) {
        browser.run("location.hash = arguments[0]", place);
    }

    private static void send(String queue, String id, Duration delay) {
        operations()
            .send(DelayedMessage.builder(queue, Map.of("order", 42, "note", "for " + id)).id(id).delay(delay).build());
    }

    @Test
    void findsAMessageAndWatchesItFire() {
        send("order-timeout", "order/42", Duration.ofSeconds(4));
        go("#/queues/order-timeout");
        browser.find("input[name=id]").sendKeys("order/42" + Keys.ENTER);
        browser.awaitText("Message order/42");
        browser.awaitText("\"note\": \"for order/42\"");
        assertThat(browser.find(".countdown").getText()).startsWith("in ");
        browser.awaitText("It is gone by now");
        assertThat(Shop.handled).contains("order/42");
    }

    @Test
    void plotsHowManyHandlersBeganAndHowLate() {
        go("#/queues/order-timeout");
        browser.awaitText("Handlers begun, per second");
        for (int i = 0; i < 10; i++) {
            send("order-timeout", "plotted-" + i, Duration.ZERO);
        }
        awaitPlot("throughput", "Begun (?!0/s|–).*/s");
        awaitPlot("lateness", "half .* ms, 95 % .* ms, 99 % .* m?s");
        assertThat(browser.text()).contains("on the node that answers this page");
        go("#/");
        awaitPlot("lateness", "half .* ms, 95 % .* ms, 99 % .* m?s");
    }

    private static void awaitPlot(String plot, String now) {
        await().untilAsserted(
                () -> assertThat(browser.find("canvas[data-plot='" + plot + "']").getDomAttribute("aria-label"))
                    .containsPattern("Now: " + now));
    }

    /** Behind a load balancer the nodes answer in turn; one of them starts anew. */
    @Test
    void addsUpWhatNodesHaveCountedEachForItself() {
        assertThat(browser
            .run("""
                    return import('./flow.js').then(({ follow }) => {
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
    void cancelsTheMessagesThatItChooses() {
        send("reminders", "r-1", Duration.ofHours(1));
        send("reminders", "r-2", Duration.ofHours(2));
        send("reminders", "r-3", Duration.ofHours(3));
        go("#/queues/reminders");
        browser.click("input[type=checkbox]", "Choose r-2");
        browser.click("main button", "Cancel (1) …");
        browser.awaitText("They are removed and never handled");
        browser.click("dialog button", "Cancel: 1 message");
        browser.awaitText("1 cancelled");
        assertThat(operations().find("reminders", "r-2")).isEmpty();
        assertThat(operations().find("reminders", "r-1")).isPresent();

        browser.find("section input[type=search]:not([name])").sendKeys("r-");
        browser.click("main button", "Cancel: all that match …");
        browser.click("dialog button", "Cancel: 2 messages");
        browser.awaitText("2 cancelled");
        assertThat(operations().statistics("reminders").scheduled()).isZero();
    }

    @Test
    void pausesAQueueOnEveryNodeAndResumesIt() {
        send("invoices", "i-1", Duration.ofHours(1));
        go("#/queues/invoices");
        browser.click("main button", "Pause queue …");
        browser.awaitText("It holds on every node, and across restarts");
        browser.click("dialog button", "Pause on every node");
        browser.awaitText("is paused on every node");
        browser.click("main button", "Resume queue");
        browser.awaitText("goes on, on every node");
    }

    @Test
    void pausesAQueueUntilATimeAtWhichItGoesOn() {
        go("#/queues/order-timeout");
        browser.click("main button", "Pause queue …");
        browser.run("""
                const form = document.querySelector('dialog form');
                form.time.value = 'until';
                const at = new Date(Date.now() + 6000 - new Date().getTimezoneOffset() * 60000);
                form.until.value = at.toISOString().slice(0, 19);""");
        browser.click("dialog button", "Pause on every node");
        browser.awaitText("paused until");
        send("order-timeout", "held", Duration.ZERO);
        assertThat(Shop.handled).doesNotContain("held");
        await().atMost(Duration.ofSeconds(30)).until(() -> Shop.handled.contains("held"));
        browser.awaitText("Pause queue …");
    }

    @Test
    void opensADeadLetterByItsAddress() {
        Shop.broken = true;
        send("receipts", "receipt/7", Duration.ZERO);
        await().until(() -> operations().statistics("receipts").dead() == 1);
        Shop.broken = false;
        String letterId = operations().deadLetters("receipts").list(null, 1).letters().get(0).letterId();
        browser.visit(server.port(), ApiServer.ALL,
                PAGE + "?again#/queues/receipts/dead-letters/" + URLEncoder.encode(letterId, StandardCharsets.UTF_8));
        browser.awaitText("Dead letter receipt/7");
        browser.awaitText("The printer is out of paper");
        operations().deadLetters("receipts").purge(letterId);
        browser.awaitText("It is gone by now");
        browser.visit(server.port(), ApiServer.ALL, PAGE);
    }

    @Test
    void redrivesADeadLetterAfterReadingItsCause() {
        Shop.broken = true;
        send("receipts", "receipt-1", Duration.ZERO);
        await().until(() -> operations().statistics("receipts").dead() == 1);
        go("#/queues/receipts/dead-letters");
        browser.click("main a", "receipt-1");
        browser.awaitText("The printer is out of paper");
        browser.awaitText("IllegalStateException");
        Shop.broken = false;
        browser.click("main button", "Redrive …");
        browser.click("dialog button", "Redrive: 1 dead letter");
        browser.awaitText("1 dead letter redriven");
        await().until(() -> Shop.handled.contains("receipt-1"));
    }

    @Test
    void purgesByFilterAfterItHasSaidHowMany() {
        Shop.broken = true;
        for (int i = 0; i < 3; i++) {
            send("receipts", "old-" + i, Duration.ZERO);
            send("receipts", "new-" + i, Duration.ZERO);
        }
        await().until(() -> operations().statistics("receipts").dead() >= 6);
        go("#/queues/receipts/dead-letters");
        browser.find("input[name=idPrefix]").sendKeys("old-" + Keys.ENTER);
        browser.awaitText("of which: its id begins with old-");
        browser.click("main button", "Purge: all that match …");
        browser.awaitText("There are 3 now");
        browser.click("dialog button", "Purge: 3 dead letters");
        browser.awaitText("3 dead letters purged");
        operations().deadLetters("receipts").purgeAll();
        Shop.broken = false;
    }

    @Test
    void doesNothingThatAHostileMessageSays() {
        Shop.hostile = true;
        operations().send(DelayedMessage.builder("receipts", Map.of("text", HOSTILE))
            .id("hostile")
            .header("h", HOSTILE)
            .group("group-1")
            .delay(Duration.ZERO)
            .build());
        await().until(() -> operations().statistics("receipts").dead() >= 1);
        go("#/queues/receipts/dead-letters");
        browser.awaitText("<script>window.hacked=1</script>\\u{202e}${7*7}{{7*7}}");
        browser.driver().findElement(By.cssSelector("tbody th a")).click();
        browser.awaitText("Dead letter hostile");
        browser.awaitText("Headers");
        assertHarmless();
        String hostile = URLEncoder.encode(HOSTILE, StandardCharsets.UTF_8).replace("+", "%20");
        for (String place : List.of("#/queues/" + hostile, "#/queues/q/messages/" + hostile,
                "#/queues/q/dead-letters/" + hostile, "#/queues/" + hostile + "/dead-letters")) {
            go(place);
            await().until(() -> browser.text().matches("(?s).*(Refused|not valid|is not there).*"));
            assertHarmless();
        }
        operations().deadLetters("receipts").purgeAll();
        Shop.hostile = false;
    }

    private static void assertHarmless() {
        assertThat(browser
            .run("return window.hacked === undefined && document.querySelectorAll('img, #app script').length"))
            .isEqualTo(0L);
    }

    @Test
    void isWithoutBarriersAndComplaintsInLightAndDark() {
        send("order-timeout", "order/later", Duration.ofMinutes(20));
        operations().send(DelayedMessage.builder("order-timeout", Map.of("order", 7))
            .id("order/7")
            .group("customer-3")
            .delay(Duration.ofDays(2))
            .build());
        Shop.broken = true;
        send("receipts", "receipt-9", Duration.ZERO);
        await().until(() -> operations().statistics("receipts").dead() >= 1);
        Shop.broken = false;
        operations().pause("invoices");
        boolean write = "write".equals(System.getProperty("dq.screenshots"));
        Map<String, String> pages = Map.of("overview", "#/", "queue", "#/queues/order-timeout", "message",
                "#/queues/order-timeout/messages/order%2F7", "dead-letters", "#/queues/receipts/dead-letters", "nodes",
                "#/nodes", "problems", "#/problems");
        browser.complaints();
        for (String scheme : List.of("light", "dark")) {
            browser.scheme(scheme);
            pages.forEach((name, place) -> {
                go(place);
                await().until(() -> !browser.text().contains("Loading …"));
                browser.run("return new Promise((done) => setTimeout(done, 300))");
                assertThat((List<?>) browser.violations()).as(name + " in " + scheme).isEmpty();
                if (write) {
                    browser.screenshot(SCREENSHOTS.resolve(name + "-" + scheme + ".png"));
                }
            });
        }
        operations().resume("invoices");
        operations().deadLetters("receipts").purgeAll();
        browser.scheme("light");
        // The checker reads the plots back, which the browser finds slow.
        assertThat(browser.complaints()).allMatch((complaint) -> complaint.contains("Canvas2D"));
    }

    @Test
    void canBeUsedByKeyboardAndOnAPhone() {
        send("invoices", "i-2", Duration.ofHours(1));
        go("#/nodes");
        browser.awaitText("Nodes and listeners");
        go("#/queues/invoices");
        browser.awaitText("Pause queue …");
        await().until(() -> "H1".equals(browser.run("return document.activeElement.tagName")));
        browser.click("main button", "Pause queue …");
        browser.awaitText("Pause on every node");
        browser.driver().switchTo().activeElement().sendKeys(Keys.ESCAPE);
        await().until(() -> "Pause queue …".equals(browser.driver().switchTo().activeElement().getText()));

        browser.size(390, 844);
        for (String place : List.of("#/", "#/queues/invoices", "#/queues/receipts/dead-letters", "#/nodes")) {
            go(place);
            await().until(() -> !browser.text().contains("Loading …"));
            assertThat(browser.run("return document.body.scrollWidth > innerWidth")).as(place).isEqualTo(false);
        }
        browser.size(1280, 1000);
    }

    /** Handles orders and receipts. */
    @Configuration(proxyBeanMethods = false)
    @Import(ApiServer.Application.class)
    static class Shop {

        static final Queue<String> handled = new ConcurrentLinkedQueue<>();

        static volatile boolean broken;

        static volatile boolean hostile;

        @Bean
        Handlers handlers() {
            return new Handlers();
        }

    }

    static class Handlers {

        @DelayedListener("order-timeout")
        void cancelUnpaid(Map<String, Object> order, Delivery delivery) {
            Shop.handled.add(delivery.id());
        }

        @DelayedListener("receipts")
        void print(Map<String, Object> receipt, Delivery delivery) {
            if (Shop.hostile) {
                throw new IllegalStateException(HOSTILE);
            }
            if (Shop.broken) {
                throw new IllegalStateException("The printer is out of paper");
            }
            Shop.handled.add(delivery.id());
        }

    }

}
