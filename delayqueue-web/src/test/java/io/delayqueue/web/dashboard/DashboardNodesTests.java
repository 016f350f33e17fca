package io.delayqueue.web.dashboard;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedMessage;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.admin.NodeOperations;
import io.delayqueue.admin.NodeOperations.OverrideRequest;
import io.delayqueue.admin.NodeStatus;
import io.delayqueue.admin.NodeStatus.IntakeStatus;
import io.delayqueue.admin.NodeStatus.ListenerStatus;
import io.delayqueue.admin.NodeStatus.QueueStatus;
import io.delayqueue.admin.NodeStatus.RunningHandler;
import io.delayqueue.admin.NodeStatus.RunningHandlers;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.store.NodeRegistry;
import io.delayqueue.store.NodeStatusCodec;
import io.delayqueue.web.Browser;
import io.delayqueue.web.DashboardSite;
import io.delayqueue.web.DashboardSite.Shop;
import io.delayqueue.web.consume.ApiServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.By;
import org.openqa.selenium.WebElement;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Uses the pages of nodes like an operator: finds the node that hangs, reads where its
 * handlers wait, and changes what a listener does there. Skipped if there is no Chromium.
 */
@Tag("server")
@Tag("matrix")
class DashboardNodesTests {

    private static DashboardSite site;

    private static Browser browser;

    private static Reports reports;

    @BeforeAll
    static void start() {
        site = DashboardSite.open(RedisServer.shared(RedisBinary.REDIS_7_0), ApiServer.ALL, "5s", HangingShop.class,
                "delayqueue.listener.overdue-after=1s", "delayqueue.listener.concurrency=4");
        browser = site.browser();
        reports = site.bean(Reports.class);
        for (String id : List.of("report-2031-north", "report-2031-south")) {
            site.operations().send(DelayedMessage.builder("reports", Map.of("year", 2031)).id(id).build());
        }
        await().until(() -> node().handlers().overdue() == 2);
    }

    @AfterAll
    static void stop() {
        if (site != null) {
            reports.release.countDown();
            site.close();
        }
    }

    @BeforeEach
    void openTheListOfQueues() {
        open("#/");
        browser.awaitText("All queues");
    }

    private static NodeStatus node() {
        return site.bean(DelayQueueInspector.class)
            .nodes()
            .stream()
            .filter((node) -> node.pid() == ProcessHandle.current().pid())
            .findFirst()
            .orElseThrow();
    }

    /** Opens an address in a page that has not seen another, as a shared link does. */
    private static void open(String place) {
        browser.driver().get(site.address() + "?" + System.nanoTime() + place);
    }

    private static void openNode() {
        open("#/nodes/" + node().id());
        browser.awaitText("Handlers that run longest");
    }

    /** Chooses an action of the listener of reports. */
    private static void choose(String label) {
        List<WebElement> rows = browser.driver().findElements(By.cssSelector("section[aria-labelledby=listeners] tr"));
        WebElement row = rows.stream().filter((one) -> one.getText().contains("reporting")).findFirst().orElseThrow();
        row.findElements(By.tagName("button"))
            .stream()
            .filter((button) -> button.getText().equals(label))
            .findFirst()
            .orElseThrow()
            .click();
    }

    @Test
    void tellsWhichNodeHangsByOneClick() {
        browser.awaitText("Handlers are overdue");
        browser.countClicks();

        browser.click("header a", "Nodes");

        browser.awaitText("report-2031-north");
        String process = "%s:%d".formatted(node().host(), node().pid());
        assertThat(browser.find("section[aria-labelledby=overdue]").getText()).contains("report-2031-north",
                "report-2031-south", process, "overdue");
        assertThat(browser.clicks()).isEqualTo(1);

        browser.click("section[aria-labelledby=overdue] a", process);
        browser.awaitText("Stack frames of overdue handlers");
        assertThat(browser.run("return location.hash")).isEqualTo("#/nodes/" + node().id());
        assertThat(browser.driver().getTitle()).isEqualTo(process + " – Nodes – DelayQueue");
    }

    @Test
    void showsOnThePageOfAQueueWhichNodeHandlesItsMessages() {
        open("#/queues/reports");
        browser.awaitText("Handlers that run longest");
        assertThat(browser.find("section[aria-labelledby=handlers]").getText()).contains("report-2031-north",
                "%s:%d".formatted(node().host(), node().pid()));
    }

    @Test
    void readsWhereAHandlerHangs() {
        openNode();
        browser.click("main button", "Take stack frames");
        browser.awaitText("DashboardNodesTests$Reports.waitForThePrinter");
        browser.awaitText("of 2 overdue handlers");
    }

    @Test
    void changesTheConcurrencyOfAListenerOnOneNodeAndBack() {
        openNode();
        choose("Concurrency …");
        WebElement field = browser.find("dialog input[name=concurrency]");
        assertThat(field.getDomProperty("value")).isEqualTo("4");
        field.clear();
        field.sendKeys("2");
        browser.click("dialog button", "Set on this node");

        // The override is "requested" until the next report, which may come at once.
        browser.awaitText("Listener reporting gets a concurrency of 2");
        browser.awaitText("by all until");
        browser.awaitText("2 of 2");
        assertThat(status().concurrency()).isEqualTo(2);
        assertThat(reports.interrupted).hasValue(0);

        choose("Pause …");
        browser.awaitText("Pause reporting on this node?");
        browser.click("dialog button", "Pause on this node");
        await().untilAsserted(() -> assertThat(status().override()).isNotNull()
            .matches((override) -> override.paused() && Integer.valueOf(2).equals(override.concurrency())));
        browser.awaitText("paused, concurrency 2 by all until");
        choose("Resume");
        await().until(() -> !status().override().paused());
        assertThat(status().concurrency()).as("is kept").isEqualTo(2);
        await().untilAsserted(() -> assertThat(browser.text()).doesNotContain("requested"));

        choose("Use configuration");
        await().until(() -> status().override() == null);
        assertThat(status().concurrency()).isEqualTo(4);
    }

    /** Bob has opened the dialog before Alice pauses the listener. */
    @Test
    void aDialogKeepsWhatAnotherOperatorHasSetMeanwhile() {
        openNode();
        choose("Concurrency …");
        WebElement field = browser.find("dialog input[name=concurrency]");
        NodeOperations nodes = site.bean(NodeOperations.class);
        nodes.override(node().id(),
                new OverrideRequest("reporting", "reports", null, true, "alice", Duration.ofHours(1)));
        field.clear();
        field.sendKeys("2");
        browser.click("dialog button", "Set on this node");

        await().untilAsserted(() -> assertThat(status().override()).isNotNull()
            .matches((override) -> override.paused() && Integer.valueOf(2).equals(override.concurrency())));
        browser.awaitText("paused, concurrency 2 by all until");
        choose("Concurrency …");
        browser.awaitText("The pause stays, and ends at the same time.");
        browser.click("dialog button", "Keep as it is");
        choose("Resume");
        await().until(() -> !status().override().paused());
        await().untilAsserted(() -> assertThat(browser.text()).doesNotContain("requested"));
        choose("Pause …");
        browser.awaitText("The concurrency of 2 stays, and ends at the same time.");
        browser.click("dialog button", "Keep as it is");

        nodes.withdraw(node().id(), "reporting", "reports");
        await().until(() -> status().override() == null);
    }

    private static QueueStatus status() {
        return node().listeners()
            .stream()
            .filter((one) -> one.id().equals("reporting"))
            .findFirst()
            .orElseThrow()
            .byQueue()
            .get(0);
    }

    /**
     * The messages of an intake that fails wait in the broker, where no page of a queue
     * shows them.
     */
    @Test
    void showsWhatANodeReadsFromBrokersAndWhyItSchedulesNothing() {
        reportOthers();
        open("#/nodes/other");
        browser.awaitText("Intakes");

        List<String> rows = browser.driver()
            .findElements(By.cssSelector("section[aria-labelledby=intakes] tbody tr"))
            .stream()
            .map(WebElement::getText)
            .toList();
        assertThat(rows).hasSize(2);
        assertThat(rows.get(0)).contains("kafka:order-events-later", "order-timeout", "running", "48,112", "17");
        assertThat(rows.get(1)).contains("rabbit:reminders-later", "schedules nothing",
                "for 2 min: the connection was");

        reportOthers();
        open("#/alerts");
        browser.awaitText("An intake schedules nothing");
        assertThat(browser.text()).contains("of 'rabbit:reminders-later'").doesNotContain("of 'kafka:order");
    }

    @Test
    void explainsANodeThatIsGone() {
        open("#/nodes/gone");
        browser.awaitText("This node is gone");
        assertThat(browser.text()).contains("begins with its configuration");
    }

    @Test
    void hasNoViolationsAndFitsAPhone() {
        reportOthers();
        NodeOperations nodes = site.bean(NodeOperations.class);
        nodes.override(node().id(), new OverrideRequest("reporting", "reports", 3, true, "alice", Duration.ofHours(1)));
        await().until(() -> status().override() != null);
        Map<String, String> pages = new LinkedHashMap<>();
        pages.put("nodes", "#/nodes");
        pages.put("node", "#/nodes/" + node().id());
        openNode();
        browser.click("main button", "Take stack frames");
        browser.awaitText("of 2 overdue handlers");
        browser.complaints();
        for (String scheme : List.of("light", "dark")) {
            browser.scheme(scheme);
            pages.forEach((name, place) -> {
                show(place);
                assertThat((List<?>) browser.violations()).as(place + " in " + scheme).isEmpty();
                DashboardSite.screenshot(browser, name + "-" + scheme);
            });
            choose("Concurrency …");
            browser.awaitText("How long");
            assertThat((List<?>) browser.violations()).as("dialog in " + scheme).isEmpty();
            DashboardSite.screenshot(browser, "node-concurrency-" + scheme);
            browser.click("dialog button", "Keep as it is");
        }
        browser.scheme("light");
        browser.size(390, 844);
        pages.forEach((name, place) -> {
            show(place);
            assertThat((List<?>) browser.violations()).as(place + " on a phone").isEmpty();
            assertThat(browser.run("return document.documentElement.scrollWidth > innerWidth")).as(place)
                .isEqualTo(false);
            DashboardSite.screenshot(browser, "phone-" + name);
        });
        browser.size(1280, 1000);
        nodes.withdraw(node().id(), "reporting", "reports");
        await().until(() -> status().override() == null);
        assertThat(browser.complaints()).allMatch((complaint) -> complaint.contains("Canvas2D"));
    }

    /** No application with listeners runs. */
    @Test
    void explainsThatThereAreNoNodes() {
        browser
            .run("""
                    const real = window.fetch;
                    window.fetch = (url, init) => String(url).endsWith('data/nodes') ? Promise.resolve(new Response('{"nodes":[]}',
                      { headers: { 'Content-Type': 'application/json' } })) : real(url, init);""");
        browser.click("header a", "Nodes");
        browser.awaitText("No node has reported within the last 20 seconds");
        assertThat((List<?>) browser.violations()).isEmpty();
        DashboardSite.screenshot(browser, "-");
    }

    private static void show(String place) {
        reportOthers();
        open(place);
        browser.awaitText("report-2031-north");
        await().until(() -> !browser.text().contains("Loading …") && !browser.text().contains("next report …"));
    }

    /** Reports two more nodes, one of which has an earlier version. */
    private static void reportOthers() {
        NodeRegistry nodes = site.bean(NodeRegistry.class);
        ListenerStatus orders = new ListenerStatus("cancelUnpaid", List.of("order-timeout"), 10, 7, true, false, null,
                48_112, 3, List.of(new QueueStatus("order-timeout", 10, 10, 7, null)));
        RunningHandler handler = new RunningHandler("cancelUnpaid", "order-timeout", "order-48113", 1, 1,
                Duration.ofMillis(420), false);
        nodes
            .report("other", NodeStatusCodec.write(new NodeStatusCodec.Node("other", "shop", "shop-7d9f-2", 1, "0.1.0"),
                    Duration.ofHours(31), List.of(orders), new RunningHandlers(3, 0, List.of(handler)),
                    List.of(new IntakeStatus("kafka:order-events-later", "order-timeout", true, null, 48_112, 2, 17, 0),
                            new IntakeStatus("rabbit:reminders-later", "reminders", true,
                                    "nothing has been scheduled for 2 min: the connection was refused", 31, 0, 0, 1))));
        ListenerStatus old = new ListenerStatus("mail", List.of("reminders", "newsletters"), 5, 10, true, true, null, 0,
                0, List.of());
        nodes.report("old", NodeStatusCodec.write(new NodeStatusCodec.Node("old", "mailer", "mailer-0", 1, "0.0.9"),
                Duration.ofDays(4), List.of(old), RunningHandlers.NONE, List.of()));
    }

    /** Has a listener whose handlers hang. */
    @Configuration(proxyBeanMethods = false)
    @Import(Shop.class)
    static class HangingShop {

        @Bean
        Reports reports() {
            return new Reports();
        }

    }

    static class Reports {

        private final CountDownLatch release = new CountDownLatch(1);

        private final AtomicInteger interrupted = new AtomicInteger();

        @DelayedListener(value = "reports", id = "reporting")
        void report(Map<String, Object> report) {
            waitForThePrinter();
        }

        private void waitForThePrinter() {
            try {
                this.release.await();
            }
            catch (InterruptedException ex) {
                this.interrupted.incrementAndGet();
            }
        }

    }

}
