package io.delayqueue.web.dashboard;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;

import io.delayqueue.DeadLetter;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedMessage;
import io.delayqueue.MessageState;
import io.delayqueue.StoredMessage;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.web.Browser;
import io.delayqueue.web.DashboardSite;
import io.delayqueue.web.DashboardSite.Shop;
import io.delayqueue.web.PastActivity;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Uses the dashboard on a real Redis like an operator: finds a message, watches it fire,
 * cancels one, redrives a dead letter, pauses a queue. Skipped if there is no Chromium.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Tag("server")
class DashboardBrowserTests {

    private static DashboardSite site;

    private static Browser browser;

    @BeforeAll
    static void start() {
        site = DashboardSite.open();
        browser = site.browser();
    }

    @AfterAll
    static void stop() {
        if (site != null) {
            site.close();
        }
    }

    private static DelayQueueOperations operations() {
        return site.operations();
    }

    private static void go(String place) {
        browser.run("location.hash = arguments[0]", place);
    }

    private static void send(String queue, String id, Duration delay) {
        operations()
            .send(DelayedMessage.builder(queue, Map.of("order", 42, "note", "for " + id)).id(id).delay(delay).build());
    }

    /** Sends a message whose handler fails. */
    private static void sendDead(String id) {
        long before = operations().statistics("receipts").dead();
        Shop.broken = true;
        send("receipts", id, Duration.ZERO);
        await().until(() -> operations().statistics("receipts").dead() > before);
        Shop.broken = false;
    }

    @Test
    void findsAMessageAndWatchesItFire() {
        send("order-timeout", "order/42", Duration.ofHours(1));
        go("#/queues/order-timeout");
        browser.find("input[name=id]").sendKeys("order/42" + Keys.ENTER);
        browser.awaitText("Message order/42");
        browser.awaitText("\"note\": \"for order/42\"");
        assertThat(browser.find(".countdown").getText()).startsWith("in ");
        operations().reschedule("order-timeout", "order/42", Duration.ZERO);
        browser.awaitText("The message was handled or cancelled");
        assertThat(Shop.handled).contains("order/42");
    }

    @Test
    void plotsHandlerStartsAndLateness() {
        go("#/queues/order-timeout?plots=live");
        browser.awaitText("Handlers started per second");
        for (int i = 0; i < 10; i++) {
            send("order-timeout", "plotted-" + i, Duration.ZERO);
        }
        awaitPlot("throughput", "Started (?!0/s|–).*/s");
        awaitPlot("lateness", "50 % .* ms, 95 % .* ms, 99 % .* m?s");
        assertThat(browser.text()).contains("the node that serves this page");
        go("#/?plots=live");
        awaitPlot("lateness", "50 % .* ms, 95 % .* ms, 99 % .* m?s");
    }

    private static void awaitPlot(String plot, String now) {
        await().untilAsserted(
                () -> assertThat(browser.find("canvas[data-plot='" + plot + "']").getDomAttribute("aria-label"))
                    .containsPattern("Now: " + now));
    }

    @Test
    void cancelsTheSelectedMessages() {
        send("reminders", "r-1", Duration.ofHours(1));
        send("reminders", "r-2", Duration.ofHours(2));
        send("reminders", "r-3", Duration.ofHours(3));
        go("#/queues/reminders");
        browser.click("input[type=checkbox]", "Choose r-2");
        browser.click("main button", "Cancel (1) …");
        browser.awaitText("The message is removed and will not be handled");
        browser.click("dialog button", "Cancel: 1 message");
        browser.awaitText("1 cancelled");
        assertThat(operations().find("reminders", "r-2")).isEmpty();
        assertThat(operations().find("reminders", "r-1")).isPresent();

        // The filter takes effect when the timer ends, which is held.
        browser.run("window.timer = window.setTimeout; window.setTimeout = () => 1");
        WebElement filter = browser.find("section input[type=search]:not([name])");
        filter.sendKeys("r-");
        await().until(() -> !browser.driver()
            .findElements(By.xpath("//main//button[contains(., 'Cancel: all matching')]"))
            .get(0)
            .isEnabled());
        browser.run("window.setTimeout = window.timer");
        filter.sendKeys(Keys.END, "x", Keys.BACK_SPACE);
        browser.click("main button", "Cancel: all matching …");
        browser.click("dialog button", "Cancel: 2 messages");
        browser.awaitText("2 cancelled");
        assertThat(operations().statistics("reminders").scheduled()).isZero();
    }

    @Test
    void pausesAQueueOnEveryNodeAndResumesIt() {
        send("invoices", "i-1", Duration.ofHours(1));
        go("#/queues/invoices");
        browser.click("main button", "Pause queue …");
        browser.awaitText("The pause applies to every node and survives restarts");
        browser.click("dialog button", "Pause on every node");
        browser.awaitText("is paused on every node");
        browser.click("main button", "Resume queue");
        browser.awaitText("is resumed on every node");
    }

    @Test
    void pausesAQueueUntilATimeAndResumesIt() {
        go("#/queues/order-timeout");
        browser.click("main button", "Pause queue …");
        browser.run("""
                const form = document.querySelector('dialog form');
                form.time.value = 'until';
                const at = new Date(Date.now() + 120000 - new Date().getTimezoneOffset() * 60000);
                form.until.value = at.toISOString().slice(0, 19);""");
        browser.click("dialog button", "Pause on every node");
        browser.awaitText("paused until");
        send("order-timeout", "held", Duration.ZERO);
        // Sent to another queue, whose messages are handled meanwhile.
        send("receipts", "not-held", Duration.ZERO);
        await().until(() -> Shop.handled.contains("not-held"));
        await().untilAsserted(() -> assertThat(browser.find(".tiles").getText()).contains("Due now\n1\n"));
        assertThat(Shop.handled).doesNotContain("held");
        assertThat(operations().find("order-timeout", "held")).map(StoredMessage::state)
            .contains(MessageState.SCHEDULED);
        operations().pause("order-timeout", Duration.ofSeconds(1));
        await().until(() -> Shop.handled.contains("held"));
        browser.awaitText("Pause queue …");
    }

    @Test
    void opensADeadLetterByItsAddress() {
        sendDead("receipt/7");
        String deadLetterId = operations().deadLetters("receipts").list(null, 1).deadLetters().get(0).id();
        browser.driver()
            .get(site.address() + "?again#/queues/receipts/dead-letters/"
                    + URLEncoder.encode(deadLetterId, StandardCharsets.UTF_8));
        browser.awaitText("Dead letter receipt/7");
        browser.awaitText("The printer is out of paper");
        operations().deadLetters("receipts").purge(deadLetterId);
        browser.awaitText("The dead letter was redriven or purged");
    }

    @Test
    void redrivesADeadLetterAfterReadingItsCause() {
        sendDead("receipt-1");
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
    void purgesByFilterAfterShowingTheNumber() {
        for (int i = 0; i < 3; i++) {
            sendDead("old-" + i);
            sendDead("new-" + i);
        }
        go("#/queues/receipts/dead-letters");
        browser.click("summary", "Filter");
        browser.find("input[name=idPrefix]").sendKeys("old-" + Keys.ENTER);
        browser.awaitText("of which: its id begins with old-");
        browser.click("main button", "Purge: all matching …");
        browser.awaitText("There are 3 now");
        sendDead("old-but-later");
        browser.click("dialog button", "Purge: 3 dead letters");
        browser.awaitText("3 dead letters purged");
        assertThat(operations().deadLetters("receipts").list(null, 100).deadLetters()).extracting(DeadLetter::messageId)
            .containsExactlyInAnyOrder("new-0", "new-1", "new-2", "old-but-later");
        operations().deadLetters("receipts").purgeAll();
    }

    @Test
    void executesNothingFromAHostileMessage() {
        Shop.hostile = true;
        operations().send(DelayedMessage.builder("receipts", Map.of("text", DashboardSite.HOSTILE))
            .id("hostile")
            .header("h", DashboardSite.HOSTILE)
            .group("group-1")
            .delay(Duration.ZERO)
            .build());
        await().until(() -> operations().statistics("receipts").dead() >= 1);
        go("#/queues/receipts/dead-letters");
        browser.awaitText("<script>window.hacked=1</script>\\u{202e}${7*7}{{7*7}}");
        browser.driver().findElement(By.cssSelector("section[aria-labelledby=dead-letters] tbody a")).click();
        browser.awaitText("Dead letter hostile");
        browser.awaitText("Headers");
        assertHarmless();
        String hostile = URLEncoder.encode(DashboardSite.HOSTILE, StandardCharsets.UTF_8).replace("+", "%20");
        for (String place : List.of("#/queues/" + hostile, "#/queues/q/messages/" + hostile,
                "#/queues/q/dead-letters/" + hostile, "#/queues/" + hostile + "/dead-letters")) {
            go(place);
            await().until(() -> browser.text().matches("(?s).*(Rejected|not valid|There is no queue of this name).*"));
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
    void isAccessibleWithoutConsoleErrorsInLightAndDark() {
        send("order-timeout", "order/later", Duration.ofMinutes(20));
        operations().send(DelayedMessage.builder("order-timeout", Map.of("order", 7))
            .id("order/7")
            .group("customer-3")
            .delay(Duration.ofDays(2))
            .build());
        sendDead("receipt-9");
        operations().pause("invoices");
        send("empty", "gone", Duration.ofMinutes(20));
        operations().cancel("empty", "gone");
        String deadLetter = operations().deadLetters("receipts").list(null, 1).deadLetters().get(0).id();
        if (DashboardSite.isPictured()) {
            try (PastActivity past = new PastActivity(RedisServer.shared(RedisBinary.REDIS_7_0), "dashboard")) {
                past.ofAShop("order-timeout", "receipts");
            }
        }
        Map<String, String> pages = new LinkedHashMap<>();
        pages.put("queue", "#/queues/order-timeout");
        pages.put("overview", "#/");
        pages.put("message", "#/queues/order-timeout/messages/order%2F7");
        pages.put("dead-letters", "#/queues/receipts/dead-letters");
        pages.put("dead-letter", "#/queues/receipts/dead-letters/" + deadLetter);
        pages.put("-nodes", "#/nodes");
        pages.put("alerts", "#/alerts");
        pages.put("", "#/queues/empty");
        browser.complaints();
        for (String scheme : List.of("light", "dark")) {
            browser.scheme(scheme);
            pages.forEach((name, place) -> {
                go(place);
                await().until(() -> !browser.text().contains("Loading …"));
                if (name.equals("queue") && DashboardSite.isPictured()) {
                    keepBusy();
                }
                browser.run("return new Promise((done) => setTimeout(done, 100))");
                assertThat((List<?>) browser.violations()).as(place + " in " + scheme).isEmpty();
                DashboardSite.screenshot(browser, name + "-" + scheme);
            });
            browser.click("main button", "Pause queue …");
            browser.awaitText("Pause on every node");
            assertThat((List<?>) browser.violations()).as("dialog in " + scheme).isEmpty();
            browser.type(Keys.ESCAPE);
        }
        operations().resume("invoices");
        operations().deadLetters("receipts").purgeAll();
        browser.scheme("light");
        // The accessibility checker reads the plots back, which the browser reports as
        // slow.
        assertThat(browser.complaints()).allMatch((complaint) -> complaint.contains("Canvas2D"));
    }

    /** Gives the plots data. */
    private static void keepBusy() {
        Random random = new Random(3);
        for (int i = 0; i < 50; i++) {
            for (int j = random.nextInt(8); j > 0; j--) {
                send("order-timeout", "busy-%d-%d".formatted(i, j), Duration.ofMillis(random.nextInt(600)));
            }
            browser.run("return new Promise((done) => setTimeout(done, 500))");
        }
    }

    /** Finds and reschedules a message and sees the result, without a mouse. */
    @Test
    void canBeUsedByKeyboardAlone() {
        send("invoices", "i-2", Duration.ofHours(1));
        Instant before = operations().find("invoices", "i-2").orElseThrow().dueAt();
        go("#/");
        browser.awaitText("All queues");
        browser.run("document.querySelector('.skip').focus()");
        browser.type(Keys.ENTER);
        browser.tabTo("invoices");
        browser.type(Keys.ENTER);
        browser.awaitText("Queue invoices");
        await().until(() -> "H1".equals(browser.run("return document.activeElement.tagName")));
        browser.tabTo("Pause queue …");
        browser.type(Keys.ENTER);
        browser.awaitText("Pause on every node");
        browser.type(Keys.ESCAPE);
        await().until(() -> "Pause queue …".equals(browser.focused()));
        browser.tabTo("Id");
        browser.type("i-2", Keys.ENTER);
        browser.awaitText("Message i-2");
        browser.tabTo("Reschedule …");
        browser.type(Keys.ENTER);
        browser.awaitText("Reschedule: message i-2?");
        browser.tabTo("Due in");
        browser.type(Keys.HOME, Keys.DELETE, Keys.DELETE, "9", Keys.ENTER);
        browser.awaitText("1 rescheduled");
        await().until(() -> "Reschedule …".equals(browser.focused()));
        assertThat(operations().find("invoices", "i-2").orElseThrow().dueAt()).isBefore(before);
    }

    @Test
    void movesTheFocusToTheTitleWhenAnActionRemovesOrDisablesItsButton() {
        send("invoices", "i-1", Duration.ofHours(1));
        operations().pause("invoices");
        go("#/queues/invoices");
        browser.click("main button", "Resume queue");
        browser.awaitText("is resumed on every node");
        await().until(() -> "Queue invoices".equals(browser.focused()));

        operations().deadLetters("receipts").purgeAll();
        sendDead("unfocused");
        go("#/queues/receipts/dead-letters");
        browser.click("main input", "Choose all of this page");
        browser.click("main button", "Purge (1) …");
        browser.click("dialog button", "Purge: 1 dead letter");
        browser.awaitText("1 dead letter purged");
        await().until(() -> "Dead letters of receipts".equals(browser.focused()));
    }

    @Test
    void needsNoScrollingSidewaysOnAPhone() {
        send("invoices", "i-" + "3".repeat(120), Duration.ofHours(1));
        sendDead("receipt-" + "8".repeat(120));
        browser.size(390, 844);
        for (String place : List.of("#/", "#/alerts", "#/queues/invoices", "#/queues/invoices/messages/i-2",
                "#/queues/receipts/dead-letters", "#/nodes")) {
            go(place);
            await().until(() -> !browser.text().contains("Loading …"));
            assertThat(browser.run("return document.documentElement.scrollWidth > innerWidth")).as(place)
                .isEqualTo(false);
            if (place.endsWith("/") || place.endsWith("invoices")) {
                DashboardSite.screenshot(browser, place.endsWith("/") ? "phone-overview" : "phone-queue");
            }
        }
        browser.size(1280, 1000);
        operations().deadLetters("receipts").purgeAll();
    }

    /** Runs last, because all tests after it would be slower. */
    @Test
    @Order(Integer.MAX_VALUE)
    void sortsAndFiltersAThousandQueues() {
        operations().sendAll(IntStream.range(0, 990)
            .mapToObj((
                    i) -> DelayedMessage.builder("many-%03d".formatted(i), Map.of()).delay(Duration.ofHours(9)).build())
            .toList());
        go("#/");
        await().until(() -> browser.find("section [role=status]").getText().startsWith("99"));
        Object millis = browser.run("""
                const drawn = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
                const rows = () => document.querySelectorAll('tbody tr').length;
                const timed = async (what, act) => {
                  const from = performance.now();
                  act();
                  await drawn();
                  return `${what}: ${rows()} rows, ${Math.round(performance.now() - from)} ms`;
                };
                const type = (text) => () => {
                  const field = document.querySelector('section input[type=search]');
                  field.value = text;
                  field.dispatchEvent(new Event('input', { bubbles: true }));
                };
                return (async () => {
                  const timings = [];
                  for (let more = 1; more; more = document.querySelector('section > button')) {
                    timings.push(more === 1 ? 'begun' : await timed('more', () => more.click()));
                  }
                  timings.push(await timed('sort', () => document.querySelectorAll('.sort')[1].click()));
                  timings.push(await timed('filter', type('many-98')));
                  timings.push(await timed('all', type('')));
                  return timings.join('; ');
                })();""");
        System.out.println("A thousand queues: " + millis);
        assertThat((String) millis).containsPattern("more: 99\\d rows")
            .contains("sort: 50 rows", "filter: 10 rows", "all: 50 rows");
    }

}
