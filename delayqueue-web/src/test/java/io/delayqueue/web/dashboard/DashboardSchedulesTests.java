package io.delayqueue.web.dashboard;

import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import io.delayqueue.ScheduleDefinition;
import io.delayqueue.ScheduleOperations;
import io.delayqueue.ScheduleStatus;
import io.delayqueue.SkipReason;
import io.delayqueue.web.Browser;
import io.delayqueue.web.DashboardSite;
import io.delayqueue.web.DashboardSite.Shop;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Uses the pages of schedules like an operator: finds a schedule, sees what became of its
 * occurrences, pauses, triggers and removes. Skipped if there is no Chromium.
 */
@Tag("server")
@Tag("matrix")
class DashboardSchedulesTests {

    private static final String DAILY = "0 0 6 * * MON-FRI";

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

    @BeforeEach
    void addTheQueue() {
        site.operations().send("reports", "held", Map.of(), Duration.ofHours(9));
    }

    @AfterEach
    void removeAll() {
        for (String queue : List.of("reports", "receipts")) {
            List<ScheduleStatus> some;
            do {
                some = schedules(queue).list(null, 100).schedules();
                some.forEach((one) -> schedules(queue).remove(one.name()));
            }
            while (!some.isEmpty());
        }
        site.operations().deadLetters("receipts").purgeAll();
    }

    private static ScheduleOperations schedules(String queue) {
        return site.operations().schedules(queue);
    }

    private static void put(String queue, String name) {
        schedules(queue).put(ScheduleDefinition.cron(name, DAILY).zone(ZoneId.of("Asia/Kolkata")).build());
    }

    /** Opens an address in a page that has not seen another, as a shared link does. */
    private static void open(String place) {
        browser.driver().get(site.address() + "?" + System.nanoTime() + place);
    }

    private static String hash() {
        return String.valueOf(browser.run("return location.hash"));
    }

    @Test
    void saysHowToAddTheFirstSchedule() {
        for (String place : List.of("#/schedules", "#/queues/reports/schedules")) {
            open(place);
            browser.awaitText("There are no schedules.");
            assertThat(browser.text()).contains("@DelayedSchedule(name = \"daily-report\"",
                    "delayQueue.schedules(\"reports\").put(",
                    "PUT …/queues/reports/schedules/by-name?name=daily-report");
        }
    }

    @Test
    void opensAScheduleFromTheListOfAllQueues() {
        put("reports", "customer/42");
        put("receipts", "nightly");
        open("#/");
        browser.click("header a", "Schedules");
        browser.awaitText("2 schedules, as of ");
        assertThat(browser.find("tbody").getText()).contains("nightly", DAILY, "Asia/Kolkata");

        browser.click("tbody a", "customer/42");

        browser.awaitText("Schedule customer/42");
        assertThat(hash()).isEqualTo("#/queues/reports/schedules/customer%2F42");
        assertThat(browser.text()).contains("none: it was put by a call", "In Asia/Kolkata", "06:00:00",
                "No occurrence was skipped");
        assertThat(rows("next")).isEqualTo(10);
        assertThat(browser.driver().getTitle()).isEqualTo("customer/42 – schedules – reports – DelayQueue");
    }

    private static int rows(String section) {
        return browser.driver()
            .findElements(By.cssSelector("section[aria-labelledby='%s'] tbody tr".formatted(section)))
            .size();
    }

    @Test
    void keepsTheLengthOfThePreviewInTheAddress() {
        put("reports", "daily");
        open("#/queues/reports/schedules/daily");
        browser.awaitText("Next times");
        browser.find("section select").sendKeys("the next 25");
        await().until(() -> rows("next") == 25);
        assertThat(hash()).isEqualTo("#/queues/reports/schedules/daily?times=25");
        browser.driver().navigate().refresh();
        await().until(() -> rows("next") == 25);
    }

    @Test
    void pausesResumesTriggersAndRemovesASchedule() {
        put("reports", "daily");
        open("#/queues/reports/schedules/daily");
        browser.click("main button", "Pause …");
        browser.awaitText("Its occurrences are skipped, and counted, until it is resumed.");
        browser.click("dialog button", "Pause: 1 schedule");
        browser.awaitText("The schedule is paused");
        assertThat(schedules("reports").find("daily").orElseThrow().paused()).isTrue();
        browser.click("main button", "Resume");
        browser.awaitText("1 resumed");
        await().until(() -> !schedules("reports").find("daily").orElseThrow().paused());
        long before = site.operations().statistics("reports").scheduled();
        browser.click("main button", "Trigger …");
        browser.click("dialog button", "Trigger: 1 schedule");
        browser.awaitText("1 occurrence sent");
        assertThat(site.operations().statistics("reports").scheduled()).isEqualTo(before + 1);
        browser.click("main button", "Remove …");
        browser.click("dialog button", "Remove: 1 schedule");
        await().until(() -> hash().equals("#/queues/reports/schedules"));
        assertThat(schedules("reports").find("daily")).isEmpty();
    }

    @Test
    void aMessageNamesTheScheduleThatHasSentIt() {
        put("reports", "daily");
        String id = schedules("reports").trigger("daily").orElseThrow().id();
        open("#/queues/reports/messages/" + id);
        browser.click("main a", "daily");
        browser.awaitText("Schedule daily");
    }

    /** The list shows 50 schedules, and 60 match. */
    @Test
    void pausesAllThatMatchAfterCountingThem() {
        IntStream.range(0, 60).forEach((i) -> put("reports", "customer-%02d".formatted(i)));
        put("reports", "other");
        open("#/queues/reports/schedules?filter=customer-");
        browser.awaitText("customer-49");
        assertThat(browser.text()).doesNotContain("other", "customer-50");

        browser.click("main button", "Pause: all matching …");
        browser.awaitText("Pause: 60 schedules of queue reports?");
        browser.click("dialog button", "Pause: 60 schedules");

        browser.awaitText("60 paused");
        assertThat(schedules("reports").find("customer-59").orElseThrow().paused()).isTrue();
        assertThat(schedules("reports").find("other").orElseThrow().paused()).isFalse();
    }

    @Test
    void allThatMatchAreThoseOfTheFilterWhenTheCountBegan() {
        countCustomersAndHoldTheFirstPage();
        browser.find("section input[type=search]").sendKeys(Keys.BACK_SPACE.toString().repeat(9));
        await().until(() -> hash().equals("#/queues/reports/schedules"));

        browser.resumeRequests();

        browser.awaitText("Remove: 110 schedules of queue reports?");
        browser.click("dialog button", "Remove: 110 schedules");
        browser.awaitText("110 removed");
        assertThat(schedules("reports").find("other")).isPresent();
    }

    @Test
    void aCountWhosePageIsLeftOffersNothing() {
        countCustomersAndHoldTheFirstPage();
        browser.click("header a", "Schedules");
        await().until(() -> hash().equals("#/schedules"));

        browser.resumeRequests();

        await().until(() -> "".equals(browser.run("return document.getElementById('result').textContent")));
        assertThat(browser.run("return document.getElementById('dialog').open")).isEqualTo(false);
    }

    /** The browser counts 100 schedules at a time, and 110 match. */
    private static void countCustomersAndHoldTheFirstPage() {
        IntStream.range(0, 110).forEach((i) -> put("reports", "customer-%03d".formatted(i)));
        put("reports", "other");
        open("#/queues/reports/schedules?filter=customer-");
        browser.awaitText("customer-049");
        browser.holdRequests("url.searchParams.get('limit') === '100' && !url.searchParams.has('cursor')");
        browser.click("main button", "Remove: all matching …");
        browser.awaitHeldRequest();
    }

    @Test
    void keepsFilterStateAndPageInTheAddress() {
        IntStream.range(0, 60).forEach((i) -> put("reports", "customer-%02d".formatted(i)));
        schedules("reports").pause("customer-07");
        open("#/queues/reports/schedules");
        browser.awaitText("customer-49");
        browser.click("main button", "Next page");
        browser.awaitText("customer-59");
        String shared = hash();
        open(shared);
        browser.awaitText("Page 2");
        browser.awaitText("customer-59");
        browser.find("section input[type=search]").sendKeys("CUSTOMER-5");
        await().until(() -> hash().equals("#/queues/reports/schedules?filter=CUSTOMER-5"));
        browser.awaitText("customer-50");
        assertThat(browser.text()).doesNotContain("customer-49");
        open("#/queues/reports/schedules?state=paused");
        browser.awaitText("customer-07");
        await().until(() -> rows("schedules") == 1);
    }

    @Test
    void changesOnlyTheChosenOnes() {
        put("reports", "one");
        put("reports", "two");
        open("#/queues/reports/schedules");
        browser.click("input[type=checkbox]", "Choose two");
        browser.click("main button", "Remove (1) …");
        browser.click("dialog button", "Remove: 1 schedule");
        browser.awaitText("1 removed");
        assertThat(schedules("reports").find("one")).isPresent();
        assertThat(schedules("reports").find("two")).isEmpty();
    }

    @Test
    void leadsToTheDeadLetterOfTheLastOccurrence() {
        Shop.broken = true;
        schedules("receipts").put(ScheduleDefinition.fixedRate("failing", Duration.ofSeconds(1)).build());
        await().until(() -> site.operations().statistics("receipts").dead() > 0);
        schedules("receipts").put(ScheduleDefinition.fixedRate("failing", Duration.ofDays(30_000)).build());
        await().until(() -> site.operations().statistics("receipts").leased() == 0);
        Shop.broken = false;
        open("#/queues/receipts/schedules");
        browser.click("tbody a", "dead letter");
        browser.awaitText("The printer is out of paper");
        open("#/queues/receipts/schedules/failing");
        browser.awaitText("java.lang.IllegalStateException: The printer is out of paper");
    }

    @Test
    void makesInvisibleCharactersOfTheLastFailureVisible() {
        Shop.hostile = true;
        try {
            schedules("receipts").put(ScheduleDefinition.fixedRate("hostile", Duration.ofSeconds(1)).build());
            await().until(() -> site.operations().statistics("receipts").dead() > 0);
            schedules("receipts").put(ScheduleDefinition.fixedRate("hostile", Duration.ofDays(30_000)).build());
            open("#/queues/receipts/schedules/hostile");
            browser.awaitText("</script>\\u{202e}${7*7}");
        }
        finally {
            Shop.hostile = false;
        }
    }

    /** A newer node may return a state that a page of this version does not know. */
    @Test
    void anOutcomeThatThePageDoesNotKnowHasItsName() {
        open("#/schedules");
        assertThat(outcomeText("UNKNOWN")).isEqualTo("ended, or an older dead letter");
        assertThat(outcomeText("POSTPONED")).isEqualTo("POSTPONED");
    }

    private static Object outcomeText(String outcome) {
        return browser.run("""
                const [state] = arguments;
                return Promise.all([load('./schedules.js'), load('./lib/lit-html.js')]).then(([page, lit]) => {
                  const place = document.createElement('p');
                  lit.render(page.outcome('reports', { id: 'x', state }), place);
                  return place.textContent;
                });""", outcome);
    }

    @Test
    void saysWhyOccurrencesWereSkipped() {
        schedules("receipts").put(ScheduleDefinition.fixedRate("paused", Duration.ofSeconds(1)).build());
        schedules("receipts").pause("paused");
        await()
            .until(() -> schedules("receipts").find("paused").orElseThrow().skipped().containsKey(SkipReason.PAUSED));
        open("#/queues/receipts/schedules/paused");
        browser.awaitText("PAUSED the schedule was paused");
        assertThat(rows("skips")).isPositive();
    }

    @Test
    void anUnknownQueueOrScheduleIsNotFound() {
        open("#/queues/never-used/schedules");
        browser.awaitText("There is no queue of this name");
        open("#/queues/reports/schedules/never-put");
        browser.awaitText("Queue reports has no schedule of this name");
        assertThat(browser.text()).doesNotContain("Trigger");
    }

    @Test
    void isAccessibleInLightAndDarkAndOnAPhone() {
        fill();
        browser.complaints();
        Map<String, String> pages = Map.of("schedules", "#/schedules", "schedule",
                "#/queues/reports/schedules/daily-report", "", "#/queues/reports/schedules", "-empty",
                "#/queues/invoices/schedules");
        for (String scheme : List.of("light", "dark")) {
            browser.scheme(scheme);
            pages.forEach((name, place) -> {
                show(place);
                assertThat((List<?>) browser.violations()).as(place + " in " + scheme).isEmpty();
                DashboardSite.screenshot(browser, (name.isEmpty() ? "-" : name) + "-" + scheme);
            });
            show("#/queues/reports/schedules/daily-report");
            browser.click("main button", "Remove …");
            browser.awaitText("Remove: 1 schedule");
            assertThat((List<?>) browser.violations()).as("dialog in " + scheme).isEmpty();
            browser.type(Keys.ESCAPE);
        }
        browser.scheme("light");
        browser.size(390, 844);
        pages.forEach((name, place) -> {
            show(place);
            assertThat((List<?>) browser.violations()).as(place + " on a phone").isEmpty();
            assertThat(browser.run("return document.documentElement.scrollWidth > innerWidth")).as(place)
                .isEqualTo(false);
            DashboardSite.screenshot(browser, name.equals("schedules") ? "phone-schedules" : "-");
        });
        browser.size(1280, 1000);
        // The accessibility checker reads canvases back, which the browser reports as
        // slow.
        assertThat(browser.complaints()).allMatch((complaint) -> complaint.contains("Canvas2D"));
    }

    private static void show(String place) {
        open(place);
        // The node keeps the list of all queues for ten seconds.
        browser.awaitText(place.equals("#/schedules") ? "heartbeat" : "chedule");
        await().until(() -> !browser.text().contains("Loading …"));
    }

    /** Puts schedules with different times and progress. */
    private static void fill() {
        site.operations().send("invoices", "held", Map.of(), Duration.ofHours(9));
        schedules("reports").put(ScheduleDefinition.cron("daily-report", DAILY)
            .zone(ZoneId.of("Europe/Berlin"))
            .payload(Map.of("report", "daily", "customer", 42))
            .timeToLive(Duration.ofHours(4))
            .build());
        put("reports", "statement-of-account-and-usage-in-detail-of-customer-0042-for-their-bookkeeping-department");
        schedules("reports").put(ScheduleDefinition.cron("weekly-summary", "0 0 7 * * MON").build());
        schedules("reports").put(ScheduleDefinition.cron("disabled", "-").build());
        schedules("receipts").put(ScheduleDefinition.fixedRate("heartbeat", Duration.ofSeconds(1)).build());
        schedules("receipts").put(ScheduleDefinition.fixedRate("inventory-sync", Duration.ofSeconds(1)).build());
        schedules("receipts").pause("inventory-sync");
        await().until(() -> schedules("receipts").find("heartbeat").orElseThrow().sent() > 0
                && !schedules("receipts").find("inventory-sync").orElseThrow().skips().isEmpty());
    }

}
