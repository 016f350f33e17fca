package io.delayqueue.web.dashboard;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

import io.delayqueue.DeadLetter;
import io.delayqueue.DelayedMessage;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.web.Browser;
import io.delayqueue.web.DashboardSite;
import io.delayqueue.web.DashboardSite.Shop;
import io.delayqueue.web.consume.ApiServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Checks that the dashboard ignores late responses for an earlier address, and closes its
 * questions. Skipped if there is no Chromium.
 */
@Tag("server")
@Tag("matrix")
class DashboardAddressTests {

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

    /** Reloads it, without the state of another test. */
    @BeforeEach
    void openThePage() {
        send("a");
        browser.driver().get(site.address() + "?" + System.nanoTime());
        browser.awaitText("All queues");
    }

    private static void go(String place) {
        browser.run("location.hash = arguments[0]", place);
    }

    private static void send(String id) {
        site.operations()
            .send(DelayedMessage.builder("invoices", Map.of("note", "for " + id))
                .id(id)
                .delay(Duration.ofHours(1))
                .build());
    }

    /** Returns the addresses of two dead letters. */
    private static List<String> sendTwoDead() {
        Shop.broken = true;
        for (String id : List.of("dead-1", "dead-2")) {
            site.operations().send(DelayedMessage.builder("receipts", Map.of()).id(id).delay(Duration.ZERO).build());
        }
        await().until(() -> site.operations().statistics("receipts").dead() == 2);
        Shop.broken = false;
        return site.operations()
            .deadLetters("receipts")
            .list(null, 2)
            .deadLetters()
            .stream()
            .map(DeadLetter::id)
            .map((id) -> "#/queues/receipts/dead-letters/" + URLEncoder.encode(id, StandardCharsets.UTF_8))
            .toList();
    }

    /** The page goes from a to b while its first request for a is pending. */
    @Test
    void ignoresResponsesForAnEarlierAddress() {
        send("b");
        go("#/queues/invoices/messages/a");
        browser.awaitText("for a");
        browser.run("""
                const real = window.fetch;
                window.delayed = [];
                window.fetch = (...all) => {
                  const [url] = all;
                  if (String(url).includes('data/overview') && window.delayed.length === 0) {
                    return new Promise((done) => window.delayed.push(() => done(real(...all))));
                  }
                  // The page checks its Redis whenever an answer is late, for no view.
                  if (!String(url).includes('data/store')) {
                    window.requests = [...window.requests ?? [], String(url)];
                  }
                  return real(...all);
                };""");
        await().until(() -> browser.run("return window.delayed.length"), Long.valueOf(1)::equals);
        go("#/queues/invoices/messages/b");
        browser.awaitText("for b");
        browser.run("document.dispatchEvent(new CustomEvent('dashboard:live', { detail: false }))");
        browser.run("""
                window.requests = [];
                window.delayed[0]();
                return new Promise((done) => setTimeout(done, 500));""");
        assertThat((List<?>) browser.run("return window.requests")).as("of a, which is no longer shown").isEmpty();
        assertThat(browser.text()).contains("Message b", "for b").doesNotContain("for a");
    }

    /** The user selects another list while a request for the first one is pending. */
    @Test
    void ignoresResponsesForAListThatIsNoLongerSelected() {
        go("#/queues/invoices");
        browser.awaitText("Page 1");
        browser.holdRequests("url.searchParams.get('listing') === 'SCHEDULED'");
        browser.awaitHeldRequest();
        browser.run("document.dispatchEvent(new CustomEvent('dashboard:live', { detail: false }))");
        go("#/queues/invoices?list=leased");
        browser.awaitText("There are no messages.");

        // Real time: long enough for the page to show a late response, if it did.
        browser.run("window.resume(); return new Promise((done) => setTimeout(done, 1000))");

        assertThat(browser.find("section[aria-labelledby=messages]").getText()).contains("There are no messages.");
    }

    /**
     * Browsers send six requests at a time to a host: those of a page that was left would
     * delay the next one, and the question about an outage.
     */
    @Test
    void endsTheRequestsOfAPageThatIsLeftButNoChange() {
        go("#/queues/invoices");
        browser.click("main button", "Pause queue …");
        browser.run("""
                window.reads = [];
                window.changes = [];
                window.fetch = (address, { method, signal }) => new Promise((done, fail) => {
                  signal.addEventListener('abort', () => fail(signal.reason));
                  if (!String(address).endsWith('data/store')) {
                    (method === 'GET' ? window.reads : window.changes).push(signal);
                  }
                });""");
        browser.click("dialog button", "Pause on every node");
        browser.click("dialog button", "Close");
        await().until(() -> (Long) browser.run("return window.reads.length"), (reads) -> reads >= 4);

        browser.run("window.left = window.reads; window.reads = []; location.hash = '#/alerts'");

        await().until(() -> Boolean.TRUE.equals(browser.run("return window.left.every(({ aborted }) => aborted)")));
        assertThat(browser.run("return window.reads.map(({ aborted }) => aborted)")).isEqualTo(List.of(false));
        assertThat(browser.run("return window.changes.map(({ aborted }) => aborted)")).isEqualTo(List.of(false));
        assertThat(browser.text()).doesNotContain("did not respond");
    }

    /** The user closes a question while its action runs, and asks another one. */
    @Test
    void showsTheFailureOfAClosedQuestionBesideTheNextOne() {
        go("#/queues/invoices");
        browser.click("main button", "Pause queue …");
        browser
            .run("""
                    const real = window.fetch;
                    window.fetch = (url, how) => how.method === 'PUT'
                      ? new Promise((done, fail) => { window.refuse = () => fail(new TypeError('lost')); }) : real(url, how);""");
        browser.click("dialog button", "Pause on every node");
        browser.click("dialog button", "Close");
        browser.click("main button", "Pause queue …");

        browser.run("window.refuse()");

        await().until(() -> String.valueOf(browser.run("return document.getElementById('result').textContent"))
            .startsWith("Pause on every node: The application did not respond"));
        assertThat(browser.find("dialog").getText()).contains("Pause queue invoices?", "Keep as it is")
            .doesNotContain("did not respond");
        browser.click("dialog button", "Keep as it is");
    }

    @Test
    void anActionWhoseDialogIsClosedKeepsThePageThatIsOpenedMeanwhile() {
        site.operations().send("obsolete", "o-1", Map.of(), Duration.ofHours(1));
        site.operations().cancel("obsolete", "o-1");
        site.operations().schedules("invoices").put(ScheduleDefinition.cron("daily", "0 0 6 * * *").build());
        List<String> dead = sendTwoDead();

        actAndOpen("#/queues/obsolete", List.of("Forget queue …", "Forget the queue", "Close"), "#/alerts",
                "Queue obsolete is forgotten");
        actAndOpen("#/queues/invoices/schedules/daily", List.of("Remove …", "Remove: 1 schedule", "Stop"),
                "#/queues/invoices/schedules/other", "1 removed");
        actAndOpen(dead.get(0), List.of("Purge …", "Purge: 1 dead letter", "Stop"), dead.get(1),
                "1 dead letter purged");
        site.operations().deadLetters("receipts").purgeAll();
    }

    /** Acts, closes the dialog, and opens another page before the action has ended. */
    private static void actAndOpen(String place, List<String> buttons, String next, String result) {
        browser.driver().get(site.address() + "?" + System.nanoTime() + place);
        browser.click("main button", buttons.get(0));
        browser.holdRequests("how.method === 'DELETE'");
        browser.click("dialog button", buttons.get(1));
        browser.awaitHeldRequest();
        browser.click("dialog button", buttons.get(2));
        go(next);
        browser.resumeRequests();
        browser.awaitText(result);
        assertThat(browser.run("return location.hash")).isEqualTo(next);
    }

    /** A filter reaches the address once the user stops typing. */
    @ParameterizedTest
    @ValueSource(strings = { "#/", "#/queues/invoices", "#/queues/invoices/schedules?filter=x" })
    void aFilterThatIsTypedIsNoneOfTheNextPage(String place) {
        go(place);
        browser.find("section input[type=search]:not([name])");
        browser.run("""
                const field = document.querySelector('section input[type=search]:not([name])');
                field.value = 'typed';
                field.dispatchEvent(new Event('input', { bubbles: true }));
                location.hash = '#/nodes';""");

        // Real time: long enough for the page to take over what was typed, if it did.
        browser.run("return new Promise((done) => setTimeout(done, 1000))");

        assertThat(browser.run("return location.hash")).isEqualTo("#/nodes");
    }

    /** The user goes back without an answer. */
    @Test
    void closesAQuestionAboutADeadLetterWhenAnotherOneIsOpened() {
        List<String> addresses = sendTwoDead();
        go(addresses.get(0));
        browser.click("main button", "Purge …");
        await().until(() -> browser.find("dialog").getText().matches("(?s)Purge: dead letter dead-[12]~.+\\?\n.*"));

        go(addresses.get(1));

        await().until(() -> Boolean.FALSE.equals(browser.run("return document.getElementById('dialog').open")));
        site.operations().deadLetters("receipts").purgeAll();
    }

    /** A list that stands still for a choice must not change. */
    @Test
    void requestsNothingWhileUpdatesArePaused() {
        go("#/queues/invoices");
        browser.awaitText("Pause queue …");
        browser.run("document.dispatchEvent(new CustomEvent('dashboard:live', { detail: false }))");
        browser.run("""
                return new Promise((done) => setTimeout(() => {
                  window.requests = 0;
                  const real = window.fetch;
                  window.fetch = (...all) => { window.requests++; return real(...all); };
                  document.dispatchEvent(new Event('visibilitychange'));
                  setTimeout(done, 2500);
                }, 1000));""");

        assertThat(browser.run("return window.requests")).isEqualTo(0L);
    }

    /** The server reads a plus in a query as a plus. */
    @Test
    void sendsABlankInAQueryAsABlankAndAPlusAsAPlus() {
        Object query = browser.run("""
                const real = window.fetch;
                return new Promise((done) => {
                  window.fetch = (address, ...more) => {
                    if (String(address).includes('data/search')) {
                      done(new URL(address).search);
                    }
                    return real(address, ...more);
                  };
                  location.hash = '#/search/' + encodeURIComponent('order 42+1');
                });""");
        assertThat(query).isEqualTo("?id=order%2042%2B1");
    }

    /** Browsers refuse to fetch addresses relative to such an address. */
    @Test
    void opensWithAPasswordInItsAddress() {
        browser.driver().get(site.address().replace("http://", "http://%s:secret@".formatted(ApiServer.ALL)));
        browser.awaitText("All queues");
        assertThat(browser.text()).doesNotContain("No answer");
    }

    @Test
    void writesTimesOfAlertsInTheLocalTimeZone() {
        site.operations().pause("invoices", Duration.ofHours(2));
        go("#/alerts");
        browser.awaitText("It is paused on every node, until ");
        Instant until = Instant.parse(browser.find(".alert time").getDomAttribute("datetime"));
        assertThat(until).isAfter(Instant.now().plus(Duration.ofHours(1)));
        assertThat(browser.find(".alert time").getText()).isNotEqualTo(until.toString());
        site.operations().resume("invoices");
    }

    @Test
    void requiresTheEndOfAPauseOnlyIfSelected() {
        go("#/queues/invoices");
        browser.click("main button", "Pause queue …");
        browser.awaitText("until it is resumed");
        assertThat(browser.find("dialog .until").isDisplayed()).isFalse();
        browser.click("dialog label", "until a time");
        await().until(browser.find("dialog .until")::isDisplayed);
        browser.click("dialog button", "Keep as it is");
    }

}
