package io.delayqueue.web.dashboard;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import io.delayqueue.DelayedMessage;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.web.Browser;
import io.delayqueue.web.DashboardSite;
import io.delayqueue.web.DashboardSite.Shop;
import io.delayqueue.web.PastActivity;
import io.delayqueue.web.consume.ApiServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Shows three hours of all nodes in a new tab, with outages and gaps, and the messages of
 * the next weeks. Skipped if there is no Chromium.
 */
@Tag("server")
@Tag("matrix")
class DashboardActivityTests {

    private static final RedisServer redis = RedisServer.shared(RedisBinary.REDIS_7_0);

    private static DashboardSite site;

    private static Browser browser;

    private static PastActivity past;

    @BeforeAll
    static void start() {
        site = DashboardSite.open(redis, ApiServer.ALL, "5s");
        browser = site.browser();
        past = new PastActivity(redis, "dashboard");
        past.ofAShop("order-timeout", "receipts");
    }

    @AfterAll
    static void stop() {
        if (site != null) {
            past.close();
            site.close();
        }
    }

    /** Opens an address in a page that has not seen another, as a new tab does. */
    private static void open(String place) {
        browser.driver().get(site.address() + "?" + System.nanoTime() + place);
    }

    /** Returns a value of the data of a plot. */
    private static Object plot(String key, String value) {
        return browser.run("return document.querySelector(`canvas[data-plot='${arguments[0]}']`)?.plot" + value, key);
    }

    @Test
    void aNewTabPlotsThreeHoursOnATrueTimeAxis() {
        open("#/");
        await().untilAsserted(() -> assertThat(plot("activity-handlers", ".labels.length")).isEqualTo(180L));
        assertThat(plot("activity-handlers", ".labels.at(0)").toString()).matches("\\d\\d:\\d\\d");
        assertThat(plot("activity-handlers", ".ticks.filter((shown) => shown).length")).isEqualTo(6L);
        assertThat(plot("activity-handlers",
                ".ticks.map((shown, index) => shown ? index : -1).filter((index) => index >= 0).map((index, at, all) => "
                        + "at ? index - all[at - 1] : 30).every((span) => span === 30)"))
            .isEqualTo(true);
        assertThat((Long) plot("activity-handlers", ".series[0].data.filter((number) => number > 0).length"))
            .isGreaterThan(150);
        assertThat(plot("activity-backlog", ".series[0].data.slice(0, 175).filter((number) => number > 0).length"))
            .isEqualTo(13L);
        assertThat(plot("activity-lateness", ".series[2].data.at(0)")).isEqualTo(5_000L);
    }

    @Test
    void outagesAreBandsAndMinutesWithoutAReportAreGaps() {
        for (String place : List.of("#/", "#/queues/order-timeout")) {
            open(place);
            await().untilAsserted(() -> assertThat(plot("activity-lateness", ".bands.map((band) => band.kind)"))
                .isEqualTo(List.of("outage", "gap")));
            assertThat(plot("activity-lateness", ".bands.map((band) => band.last - band.first + 1)"))
                .isEqualTo(List.of(8L, 4L));
            assertThat(plot("activity-handlers",
                    ".bands.every((band) => !band.kind.startsWith('gap') || document.querySelector("
                            + "\"canvas[data-plot='activity-handlers']\").plot.series[0].data[band.first] === null)"))
                .isEqualTo(true);
            assertThat(browser.run("""
                    const canvas = document.querySelector("canvas[data-plot='activity-lateness']");
                    const { scales: { x }, chartArea: { top } } = Chart.getChart(canvas);
                    const { first, last } = canvas.plot.bands[0];
                    const at = (x.getPixelForValue(first) + x.getPixelForValue(last)) / 2 * devicePixelRatio;
                    return canvas.getContext('2d').getImageData(at, (top + 5) * devicePixelRatio, 1, 1).data[3];"""))
                .as("the band is drawn")
                .isNotEqualTo(0L);
            assertThat(browser.text()).containsPattern("Redis did not answer a node \\d\\d:\\d\\d to \\d\\d:\\d\\d\\.")
                .containsPattern("No node reported \\d\\d:\\d\\d to \\d\\d:\\d\\d\\.")
                .containsPattern("Messages were not counted \\d\\d:\\d\\d to \\d\\d:\\d\\d[.,]");
        }
    }

    @Test
    void theTileKnowsTheLatenessOfOtherNodes() {
        open("#/");
        await().untilAsserted(() -> assertThat(browser.find(".tiles > div").getText()).startsWith("On time"));
        long[] counts = PastActivity.counts(0, 0, 0);
        counts[PastActivity.VERY_LATE] = 50;
        past.reportNow(Map.of("receipts", counts));
        await().atMost(Duration.ofMinutes(1))
            .untilAsserted(() -> assertThat(browser.find(".tiles > div").getText()).startsWith("Late\n")
                .contains("receipts, 99 % of handlers on all nodes; objective")
                .containsPattern("Handlers of .* on all nodes count"));
        assertThat(browser.find("td.late").getText()).matches("(\\d+|\\d+\\.\\d) (s|min).* \\(99 %\\)");
        open("#/?sort=oldestDueMillis&order=down");
        browser.awaitText("(99 %)");
        assertThat(browser.find("tbody th").getText()).isEqualTo("receipts");
        open("#/queues/receipts");
        browser.awaitText("99 % of handlers on all nodes");
    }

    @Test
    void theLastMinutesOfTheTabAreAChoiceInTheAddress() {
        open("#/");
        browser.click(".range label", "Live");
        await().until(() -> browser.run("return location.hash").equals("#/?plots=live"));
        browser.awaitText("Handlers started per second");
        open("#/?plots=live");
        browser.awaitText("Handlers started per second");
        browser.click(".range label", "3 hours");
        browser.awaitText("Handlers per minute");
    }

    @Test
    void aQueueWithoutAListenerHasNoActivityAndSaysSo() {
        site.operations().send(DelayedMessage.builder("unheard", Map.of()).delay(Duration.ofHours(1)).build());
        open("#/queues/unheard");
        browser.awaitText("No activity of this queue is recorded: no node has had a listener for it");
        open("#/");
        browser.awaitText("without a listener");
        await().untilAsserted(() -> assertThat(browser.find(".tiles > div").getText())
            .containsPattern("Handlers of \\d+ of \\d+ queues on all nodes count"));
    }

    @Test
    void whatHappensNowIsRecordedWithinSeconds() {
        for (int i = 0; i < 5; i++) {
            site.operations()
                .send(DelayedMessage.builder("order-timeout", Map.of()).id("now-" + i).delay(Duration.ZERO).build());
        }
        await().until(() -> Shop.handled.contains("now-4"));
        open("#/queues/order-timeout");
        await().atMost(Duration.ofMinutes(1))
            .untilAsserted(() -> assertThat((Long) plot("activity-lateness",
                    ".series[0].data.slice(-2).filter((late) => late !== null).length"))
                .isPositive());
    }

    @Test
    void plotsTheNextDayByHourAndTheNextWeeksByDay() {
        site.operations()
            .sendAll(IntStream.of(2, 2, 30, 30, 30, 200, 400)
                .mapToObj((hours) -> DelayedMessage.builder("far", Map.of()).delay(Duration.ofHours(hours)).build())
                .toList());
        open("#/queues/far");
        await().untilAsserted(() -> assertThat(plot("next-day", ".labels.length")).isEqualTo(24L));
        assertThat(plot("next-day", ".series[0].data[2]")).isEqualTo(2L);
        assertThat(plot("next-day", ".title").toString()).matches("Next day, by hour: most at \\d\\d:\\d\\d, 2");
        assertThat(plot("next-weeks", ".labels.length")).isEqualTo(14L);
        assertThat(plot("next-weeks", ".series[0].data"))
            .isEqualTo(List.of(2L, 3L, 0L, 0L, 0L, 0L, 0L, 0L, 1L, 0L, 0L, 0L, 0L, 0L));
        assertThat(browser.text()).contains("a message of the next hour is in all three. In none of them: 1 due later");
    }

    /** 24 hours after midnight may be an hour before the next one, so of the same day. */
    @Test
    void namesSpansOf24HoursByTimeWhenTheClocksChange() {
        timezone("Europe/Berlin");
        open("#/");
        assertThat(spans("2026-10-19T22:00:00Z")).hasSize(14)
            .doesNotHaveDuplicates()
            .allMatch((name) -> name.matches(".*\\d\\d:00"));
        assertThat(spans("2026-07-01T22:00:00Z")).hasSize(14).noneMatch((name) -> name.contains(":"));
        timezone("");
    }

    private static void timezone(String name) {
        browser.driver().executeCdpCommand("Emulation.setTimezoneOverride", Map.of("timezoneId", name));
    }

    @SuppressWarnings("unchecked")
    private static List<String> spans(String begin) {
        return (List<String>) browser.run("""
                const [begin] = arguments;
                return Promise.all([load('./next-hour.js'), load('./lib/lit-html.js')]).then(([page, lit]) => {
                  const days = [...Array(14).keys()].map((day) => (
                    { from: new Date(Date.parse(begin) + day * 86_400_000).toISOString(), count: 0 }));
                  const place = document.createElement('p');
                  lit.render(page.duePlots({ minutes: days, hours: days, days })[2], place);
                  return place.querySelector('canvas').plot.labels;
                });""", begin);
    }

    @Test
    void isAccessibleInLightAndDarkAndOnAPhone() {
        for (String scheme : List.of("light", "dark")) {
            browser.scheme(scheme);
            for (String place : List.of("#/", "#/queues/order-timeout")) {
                open(place);
                await().until(() -> plot("activity-lateness", ".labels.length") != null);
                browser.run("return new Promise((done) => setTimeout(done, 100))");
                assertThat((List<?>) browser.violations()).as(place + " in " + scheme).isEmpty();
                DashboardSite.screenshot(browser, place.equals("#/") ? "-" : "activity-" + scheme);
            }
        }
        browser.scheme("light");
        browser.size(390, 844);
        for (String place : List.of("#/", "#/queues/order-timeout")) {
            open(place);
            await().until(() -> plot("activity-lateness", ".labels.length") != null);
            assertThat(browser.run("return document.documentElement.scrollWidth > innerWidth")).as(place)
                .isEqualTo(false);
        }
        browser.size(1280, 1000);
    }

}
