package io.delayqueue.web.dashboard;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedMessage;
import io.delayqueue.web.Browser;
import io.delayqueue.web.DashboardSite;
import io.delayqueue.web.DashboardSite.Shop;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WindowType;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Completes the tasks of an operator on call with the dashboard, each by as few steps as
 * it promises. Skipped if there is no Chromium.
 */
@Tag("server")
@Tag("matrix")
class DashboardTasksTests {

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

    /** Opens the list of queues, without the state of another test. */
    @BeforeEach
    void openThePage() {
        send("invoices", "i-0");
        open("#/");
        browser.awaitText("All queues");
    }

    /** Opens an address in a page that has not seen another, as a shared link does. */
    private static void open(String place) {
        browser.driver().get(site.address() + "?" + System.nanoTime() + place);
    }

    private static String hash() {
        return String.valueOf(browser.run("return location.hash"));
    }

    private static void back() {
        browser.driver().navigate().back();
    }

    private static DelayQueueOperations operations() {
        return site.operations();
    }

    private static void send(String queue, String id) {
        operations().send(DelayedMessage.builder(queue, Map.of("order", 42)).id(id).delay(Duration.ofHours(1)).build());
    }

    @Test
    void opensTheMessageOfAnIdWhoseQueueIsUnknownByOneClick() {
        send("reminders", "r-of-unknown-queue");
        browser.countClicks();
        browser.find("#find").click();
        browser.type("r-of-unknown-queue", Keys.ENTER);
        browser.awaitText("Message r-of-unknown-queue");
        assertThat(browser.clicks()).isEqualTo(1);
    }

    @Test
    void opensTheMessageOfAnIdWithoutAClick() {
        send("reminders", "r-of-unknown-queue");
        browser.type("/");
        await().until(() -> "Id of a message".equals(browser.focused()));
        browser.type("r-of-unknown-queue", Keys.ENTER);
        browser.awaitText("Message r-of-unknown-queue");
        assertThat(hash()).isEqualTo("#/queues/reminders/messages/r-of-unknown-queue");
    }

    @Test
    void findsTheIdsOfAQueueThatBeginWithAText() {
        operations().sendAll(IntStream.range(0, 60)
            .mapToObj((i) -> DelayedMessage.builder("prefixed", Map.of())
                .id((i % 2 == 0 ? "even-" : "odd-") + i)
                .delay(Duration.ofHours(1))
                .build())
            .toList());
        open("#/queues/prefixed");
        browser.awaitText("Queue prefixed");
        browser.type("/");
        await().until(() -> "Id of a message".equals(browser.focused()));
        browser.type("odd-1");
        browser.click("header button", "Begins with");
        browser.awaitText("Ids that begin with this in queue prefixed");
        browser.awaitText("6 matches");
        assertThat(browser.text()).contains("odd-1", "odd-19").doesNotContain("odd-3", "even-10");
    }

    @Test
    void redrivesTheDeadLettersOfOneCauseByThreeClicks() {
        operations().deadLetters("receipts").purgeAll();
        Shop.broken = true;
        for (int i = 0; i < 3; i++) {
            operations()
                .send(DelayedMessage.builder("receipts", Map.of()).id("of-cause-" + i).delay(Duration.ZERO).build());
        }
        await().until(() -> operations().statistics("receipts").dead() == 3);
        Shop.broken = false;
        open("#/");
        browser.awaitText("All queues");
        browser.countClicks();
        browser.click("tbody a", "3 dead letters of receipts");
        browser.click("section button", "Redrive 3: java.lang.IllegalStateException: The printer is out of paper");
        browser.click("dialog button", "Redrive: 3 dead letters");
        browser.awaitText("3 dead letters redriven");
        assertThat(browser.clicks()).isEqualTo(3);
        await().until(() -> Shop.handled.contains("of-cause-2"));
    }

    @Test
    void keepsFilterAndOrderOfQueuesInTheAddress() {
        send("reminders", "r-1");
        browser.find("section input[type=search]").sendKeys("inv");
        await().until(() -> hash().equals("#/?filter=inv"));
        browser.click("th button", "Waiting");
        await().until(() -> hash().equals("#/?filter=inv&sort=scheduled&order=down"));
        String shared = hash();
        browser.click("tbody a", "invoices");
        browser.awaitText("Queue invoices");
        back();
        browser.awaitText("1 queue");
        open(shared);
        browser.awaitText("1 queue");
        assertThat(browser.find("section input[type=search]").getDomProperty("value")).isEqualTo("inv");
        assertThat(browser.find("th[aria-sort=descending]").getText()).startsWith("Waiting");
    }

    @Test
    void keepsListPrefixAndPageOfAQueueInTheAddress() {
        operations().sendAll(IntStream.range(0, 120)
            .mapToObj((i) -> DelayedMessage.builder("paged", Map.of())
                .id("p-%03d".formatted(i))
                .delay(Duration.ofHours(1).plusSeconds(i))
                .build())
            .toList());
        open("#/queues/paged");
        browser.awaitText("p-049");
        browser.click("main button", "Next page");
        browser.awaitText("p-050");
        assertThat(browser.text()).contains("Page 2").doesNotContain("p-049");
        String shared = hash();
        back();
        browser.awaitText("p-049");
        open(shared);
        browser.awaitText("p-050");
        browser.click("main button", "Next page");
        browser.awaitText("p-119");
        browser.click("main button", "Previous page");
        browser.awaitText("p-050");
        open("#/queues/paged?list=leased&prefix=p-11");
        browser.awaitText("No message matches");
        assertThat(browser.run("return document.querySelector('[name=listing]:checked').value")).isEqualTo("LEASED");
        browser.driver().navigate().refresh();
        browser.awaitText("No message matches");
    }

    @Test
    void keepsTheFilterOfDeadLettersInTheAddress() {
        Shop.broken = true;
        operations().send(DelayedMessage.builder("receipts", Map.of()).id("filtered").delay(Duration.ZERO).build());
        await().until(() -> operations().statistics("receipts").dead() > 0);
        Shop.broken = false;
        open("#/queues/receipts/dead-letters?idPrefix=filt");
        browser.awaitText("of which: its id begins with filt");
        browser.click("tbody a", "filtered");
        browser.awaitText("Dead letter filtered");
        browser.click("nav a", "Dead letters");
        browser.awaitText("of which: its id begins with filt");
        browser.click("main a", "Show all");
        await().until(() -> hash().equals("#/queues/receipts/dead-letters"));
        operations().deadLetters("receipts").purgeAll();
    }

    /** The fields are those of the list below, which an operator may purge. */
    @Test
    void theFieldsOfAFilterFollowTheAddress() {
        Shop.broken = true;
        operations().send(DelayedMessage.builder("receipts", Map.of()).id("followed").delay(Duration.ZERO).build());
        await().until(() -> operations().statistics("receipts").dead() > 0);
        Shop.broken = false;
        open("#/queues/receipts/dead-letters");
        browser.click("summary", "Filter");
        browser.find("input[name=idPrefix]").sendKeys("foll" + Keys.ENTER);
        browser.awaitText("of which: its id begins with foll");
        browser.click("section[aria-labelledby=causes] tbody th a",
                "java.lang.IllegalStateException: The printer is out of paper");
        browser.awaitText("of which: they have the chosen cause");
        assertThat(browser.find("input[name=idPrefix]").getDomProperty("value")).isEmpty();
        back();
        browser.awaitText("of which: its id begins with foll");
        assertThat(browser.find("input[name=idPrefix]").getDomProperty("value")).isEqualTo("foll");
        operations().deadLetters("receipts").purgeAll();
    }

    /** The count takes long, and the user opens another page meanwhile. */
    @Test
    void aCountOfDeadLettersWhosePageIsLeftOffersNothing() {
        Shop.broken = true;
        operations().send(DelayedMessage.builder("receipts", Map.of()).id("counted").delay(Duration.ZERO).build());
        await().until(() -> operations().statistics("receipts").dead() > 0);
        Shop.broken = false;
        open("#/queues/receipts/dead-letters");
        browser.awaitText("counted");
        browser.holdRequests("url.pathname.endsWith('/dead-letters/count')");
        browser.click("main button", "Purge: all matching …");
        browser.awaitHeldRequest();
        browser.click("header a", "Schedules");
        await().until(() -> hash().equals("#/schedules"));

        browser.resumeRequests();

        await().until(() -> "".equals(browser.run("return document.getElementById('result').textContent")));
        assertThat(browser.run("return document.getElementById('dialog').open")).isEqualTo(false);
        operations().deadLetters("receipts").purgeAll();
    }

    @Test
    void aLinkShowsTheSameViewInAFreshTab() {
        send("reminders", "shared-1");
        send("reminders", "shared-2");
        open("#/queues/reminders?prefix=shared-");
        browser.awaitText("2 messages; ");
        String link = String.valueOf(browser.run("return location.href"));
        String first = browser.driver().getWindowHandle();
        browser.driver().switchTo().newWindow(WindowType.TAB);
        browser.driver().get(link);
        browser.awaitText("2 messages; ");
        assertThat(browser.find("section[aria-labelledby=messages] tbody").getText()).contains("shared-1", "shared-2");
        assertThat(browser.find("section input[type=search]:not([name])").getDomProperty("value")).isEqualTo("shared-");
        browser.driver().close();
        browser.driver().switchTo().window(first);
    }

    @Test
    void namesTheViewInTheTitleOfTheTab() {
        Map<String, String> titles = Map.of("#/", "Queues – DelayQueue", "#/queues/invoices", "invoices – DelayQueue",
                "#/queues/invoices/messages/i-0", "i-0 – invoices – DelayQueue", "#/queues/invoices/dead-letters",
                "Dead letters – invoices – DelayQueue", "#/nodes", "Nodes – DelayQueue", "#/nowhere",
                "No such page – DelayQueue");
        titles.forEach((place, title) -> {
            browser.run("location.hash = arguments[0]", place);
            await().untilAsserted(() -> assertThat(browser.driver().getTitle()).isEqualTo(title));
        });
    }

    @Test
    void copiesTheIdOfAMessageExactly() {
        open("#/queues/invoices/messages/i-0");
        browser.awaitText("Message i-0");
        browser.run("navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }");
        browser.click("main button", "Copy id");
        browser.awaitText("The id is copied");
        assertThat(browser.run("return window.copied")).isEqualTo("i-0");
        browser.click("main button", "Copy payload");
        await().until(() -> "{\"order\":42}".equals(browser.run("return window.copied")));
    }

    @Test
    void showsTimesOf24HoursAndTheirZone() {
        open("#/queues/invoices/messages/i-0");
        browser.awaitText("Message i-0");
        assertThat(browser.find("main time").getText()).matches("\\d{1,2} \\w+,? (\\d{4},? )?\\d\\d:\\d\\d:\\d\\d");
        assertThat(browser.find("header .zone").getText())
            .isEqualTo(browser.run("return load('./format.js').then(({ zone }) => zone())"));
    }

    @Test
    void showsTheOffsetOfTheTimeZoneOnAPhone() {
        browser.driver().executeCdpCommand("Emulation.setTimezoneOverride", Map.of("timezoneId", "Asia/Tokyo"));
        browser.size(390, 844);
        open("#/");
        browser.awaitText("All queues");
        assertThat(browser.find("header .zone").getText()).isEqualTo("UTC+9");
        assertThat(browser.run("return document.documentElement.scrollWidth > innerWidth")).isEqualTo(false);
        browser.size(1280, 1000);
        await().until(() -> browser.find("header .zone").getText().equals("Asia/Tokyo (UTC+9)"));
        browser.driver().executeCdpCommand("Emulation.setTimezoneOverride", Map.of("timezoneId", ""));
    }

    @Test
    void showsWithoutAClickWhetherAndWhereMessagesAreLate() {
        browser.awaitText("objective 5.0 s");
        assertThat(browser.find(".tiles > div").getDomAttribute("class")).isEqualTo("good");
        send("unconsumed", "late");
        operations().reschedule("unconsumed", "late", Duration.ZERO);
        await().untilAsserted(() -> {
            assertThat(browser.find(".tiles .bad").getText()).startsWith("Late")
                .contains("unconsumed, oldest due; objective 5.0 s");
        });
        browser.run("location.hash = '#/queues/unconsumed'");
        browser.awaitText("oldest due; objective 5.0 s");
        operations().cancel("unconsumed", "late");
        await().until(() -> browser.find(".tiles > div").getDomAttribute("class").equals("good"));
    }

    @Test
    void showsWithoutAClickWhatBecomesDueInTheNextHour() {
        operations().sendAll(IntStream.range(0, 9)
            .mapToObj((i) -> DelayedMessage.builder("piled", Map.of()).delay(Duration.ofMinutes(20)).build())
            .toList());
        open("#/");
        await()
            .untilAsserted(() -> assertThat(browser.find("canvas[data-plot='next-hour']").getDomAttribute("aria-label"))
                .containsPattern("Next hour.*: most at \\d\\d:\\d\\d, \\d+"));
    }

    @Test
    void showsOneLineForQueuesWithTheSameProblem() {
        for (int i = 0; i < 5; i++) {
            operations()
                .send(DelayedMessage.builder("paused-" + i, Map.of()).id("p").delay(Duration.ofSeconds(0)).build());
            operations().pause("paused-" + i);
        }
        browser.awaitText("5 queues are paused");
        assertThat(browser.find("main .alert.warning").getText()).contains("paused-0, paused-1, paused-2 and 2 more");
        browser.click("main a", "5 queues are paused");
        browser.awaitText("Resume it on its page when the reason for the pause is gone.");
        assertThat(browser.driver().findElements(By.cssSelector("li.alert.warning"))).hasSize(1);
        for (int i = 0; i < 5; i++) {
            operations().cancel("paused-" + i, "p");
            operations().resume("paused-" + i);
        }
    }

    @Test
    void offersNothingForAnUnknownQueue() {
        for (String place : new String[] { "#/queues/never-used", "#/queues/never-used/dead-letters" }) {
            open(place);
            browser.awaitText("There is no queue of this name");
            assertThat(browser.text()).doesNotContain("Pause queue", "Redrive");
        }
        assertThat(browser.run("""
                return fetch('data/queues/never-used/pause', { method: 'PUT', body: '{}',
                  headers: { 'Content-Type': 'application/json' } }).then((answer) => answer.status);"""))
            .isEqualTo(404L);
    }

    /** Adds an alert of the queue invoices to the data of the page. */
    private static void alert(String title, String detail) {
        browser.run(
                """
                        const real = window.fetch;
                        window.fetch = async (...all) => {
                          const answer = await real(...all);
                          if (!String(all[0]).includes('data/overview')) {
                            return answer;
                          }
                          const overview = await answer.json();
                          overview.alerts.push({ severity: 'error', title: arguments[0], queue: 'invoices', detail: arguments[1], action: '' });
                          return new Response(JSON.stringify(overview), { headers: { 'Content-Type': 'application/json' } });
                        };""",
                title, detail);
    }

    /** Ids may hold times, also such as do not exist. */
    @Test
    void anAlertNamesAnIdThatHoldsATimeAsItIs() {
        alert("Handlers are overdue",
                "The longest has the message 'report-2026-11-30T10:00:00Z', another one '2026-13-01T10:00:00Z'.");
        for (String place : List.of("#/alerts", "#/queues/invoices")) {
            browser.run("location.hash = arguments[0]", place);
            browser.awaitText("message 'report-2026-11-30T10:00:00Z', another one '2026-13-01T10:00:00Z'.");
        }
    }

    /** A link was changed or cut on its way. */
    @Test
    void showsThatATimeOfAnAddressIsNotValid() {
        open("#/queues/invoices/dead-letters?deadLetteredFrom=2026-13-01T10:00&deadLetteredBefore=soon");
        browser.awaitText("at or after 2026-13-01T10:00, and it was dead-lettered before soon");
        await().until(() -> !browser.driver().findElements(By.cssSelector("main [role=alert]")).isEmpty());
    }

    /** An operator who opens a queue or a message sees why it is late. */
    @Test
    void showsTheAlertsOfAQueueOnItsPages() {
        alert(AlertEvaluator.NO_CONSUMER, "5 are due.");
        for (String place : List.of("#/queues/invoices", "#/queues/invoices/messages/i-0")) {
            browser.run("location.hash = arguments[0]", place);
            browser.awaitText(AlertEvaluator.NO_CONSUMER + "\n5 are due.\nWhat to do");
        }
        browser.run("location.hash = '#/queues/order-timeout'");
        browser.awaitText("Queue order-timeout");
        assertThat(browser.text()).doesNotContain("5 are due.");
        browser.run("location.hash = '#/'");
        await().until(() -> browser.find("tbody th .tag.error").getText().equals("no consumer"));
    }

    @Test
    void pausesAQueueUntilTomorrowMorningByThreeClicks() {
        browser.countClicks();
        browser.click("tbody a", "invoices");
        browser.click("main button", "Pause queue …");
        browser.click("dialog button", "Pause until tomorrow, 08:00");
        browser.awaitText("Queue invoices is paused on every node until");
        assertThat(browser.clicks()).isEqualTo(3);
        assertThat(Instant.parse(browser.find("h1 time").getDomAttribute("datetime"))).isEqualTo(tomorrowMorning());
        operations().resume("invoices");
    }

    @Test
    void pausesAQueueUntilTheChosenTimeAlsoByTheKeyboard() {
        open("#/queues/invoices");
        browser.click("main button", "Pause queue …");
        browser.click("dialog label", "1 hour");
        browser.type(Keys.ENTER);
        browser.awaitText("Queue invoices is paused on every node");
        browser.find("h1 time");
        assertThat(Instant.parse(browser.find("h1 time").getDomAttribute("datetime")))
            .isBefore(Instant.now().plus(Duration.ofHours(2)));
        operations().resume("invoices");
    }

    private static Instant tomorrowMorning() {
        return Instant.parse(String.valueOf(browser.run("""
                const at = new Date();
                return new Date(at.getFullYear(), at.getMonth(), at.getDate() + 1, 8).toISOString();""")));
    }

    @Test
    void offersTheMorningOfTodayOnlyBeforeIt() {
        assertThat(browser
            .run("""
                    return load('./pause.js').then(({ mornings }) => [7, 8].map((hour) =>
                      mornings(+new Date(2026, 0, 31, hour)).map((morning) => `${morning.getDate()} ${morning.getHours()}`)));"""))
            .isEqualTo(List.of(List.of("31 8", "1 8"), List.of("1 8")));
    }

    @Test
    void forgetsAQueueThatIsEmpty() {
        send("obsolete", "o-1");
        open("#/queues/obsolete");
        browser.awaitText("Queue obsolete");
        assertThat(browser.text()).doesNotContain("Forget queue");
        operations().cancel("obsolete", "o-1");
        browser.click("main button", "Forget queue …");
        browser.click("dialog button", "Forget the queue");
        browser.awaitText("Queue obsolete is forgotten");
        await().until(() -> hash().equals("#/"));
        await().untilAsserted(() -> assertThat(browser.find("tbody").getText()).doesNotContain("obsolete"));
    }

}
