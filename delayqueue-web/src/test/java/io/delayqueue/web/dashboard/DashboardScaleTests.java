package io.delayqueue.web.dashboard;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedMessage;
import io.delayqueue.Delivery;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.admin.DeadLetterCauses;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.web.Browser;
import io.delayqueue.web.DashboardSite;
import io.delayqueue.web.PastActivity;
import io.delayqueue.web.consume.ApiServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.openqa.selenium.Keys;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Uses the dashboard with a thousand queues, and dead letters of 40 causes, and prints
 * when the data of each page arrived. {@code -Ddq.dashboard.messages} is the number of
 * messages, of which one queue has half, and {@code -Ddq.dashboard.dead-letters} that of
 * dead letters. Skipped if there is no Chromium.
 */
@Tag("server")
@Tag("matrix")
@Timeout(value = 1, unit = TimeUnit.HOURS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class DashboardScaleTests {

    /** At most a thousand are listed. Three of them have a listener. */
    private static final int QUEUES = 1_000;

    private static final int OTHERS = QUEUES - 3;

    private static final int MESSAGES = Math.max(2 * QUEUES, Integer.getInteger("dq.dashboard.messages", 2_000));

    private static final int CAUSES = 40;

    /** Number of dead letters of each cause. */
    private static final int EACH = Math.max(10, Integer.getInteger("dq.dashboard.dead-letters", 400) / CAUSES);

    private static final int BATCH = 1_000;

    private static final Duration LIMIT = Duration.ofMinutes(10);

    /**
     * Tells when each kind of data had arrived, in milliseconds since the page was
     * requested, and the bytes of the page and of the data, as transferred.
     */
    private static final String TIMES = """
            const all = performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'));
            const files = all.filter(({ name }) => !name.includes('/data/'));
            const data = all.filter(({ name }) => name.includes('/data/') && !name.endsWith('/store'))
              .filter((one, at, them) => them.findIndex(({ name }) => name === one.name) === at);
            const bytes = (them) => them.reduce((sum, one) => sum + one.transferSize, 0).toLocaleString('en');
            const ms = Math.round;
            return `first data after ${ms(data[0].responseEnd)} ms; ` + data.slice(0, 5).map((one) =>
              `${decodeURIComponent(one.name.split('/data/')[1])}: after ${ms(one.responseEnd)} ms,`
                + ` ${ms(one.responseEnd - one.requestStart)} ms of it the server, ${bytes([one])} bytes`).join('; ')
              + `; ${files.length} files: after ${ms(Math.max(...files.map(({ responseEnd }) => responseEnd)))} ms, ${bytes(files)} bytes`;""";

    private static RedisServer redis;

    private static DashboardSite site;

    private static Browser browser;

    @BeforeAll
    @Timeout(value = 1, unit = TimeUnit.HOURS)
    static void start() {
        redis = RedisServer.start(RedisBinary.preferred());
        site = DashboardSite.open(redis, ApiServer.ALL, "30s", Depots.class,
                "logging.level.io.delayqueue.listener.poll.MessageSettler=off");
        browser = site.browser();
        try (PastActivity past = new PastActivity(redis, "dashboard")) {
            past.ofAShop("order-timeout", "receipts");
        }
        send(MESSAGES, DashboardScaleTests::waiting);
        send(EACH * CAUSES, DashboardScaleTests::failing);
        for (int queue = 1; queue <= 20; queue++) {
            site.operations()
                .schedules("many-" + queue)
                .put(ScheduleDefinition.cron("yearly", "0 0 6 1 1 *").payload(Map.of()).build());
        }
        await().atMost(LIMIT).until(() -> site.operations().statistics("orders").dead() == EACH * CAUSES);
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

    private static void send(int number, IntFunction<DelayedMessage> message) {
        for (int from = 0; from < number; from += BATCH) {
            site.operations().sendAll(IntStream.range(from, Math.min(from + BATCH, number)).mapToObj(message).toList());
        }
    }

    private static DelayedMessage waiting(int number) {
        return DelayedMessage.builder(queueOf(number), Map.of("number", number))
            .id("message-%07d".formatted(number))
            .delay(Duration.ofMinutes(10).plusSeconds(number))
            .build();
    }

    private static String queueOf(int number) {
        return "many-" + ((number % 2 == 0) ? 0 : 1 + number / 2 % (OTHERS - 1));
    }

    private static DelayedMessage failing(int number) {
        return DelayedMessage.builder("orders", Map.of("reason", reason(number % CAUSES)))
            .id("order-%05d".formatted(number))
            .delay(Duration.ZERO)
            .build();
    }

    private static String reason(int cause) {
        return "The depot in the %s has no %s".formatted(
                List.of("north", "east", "south", "west", "centre").get(cause / 8),
                List.of("bread", "cheese", "flour", "fruit", "milk", "oil", "salt", "wine").get(cause % 8));
    }

    private static String group(int cause) {
        return "java.lang.IllegalStateException: " + reason(cause) + " for order-#";
    }

    private static String[] ordersOf(int cause) {
        return IntStream.range(0, EACH)
            .mapToObj((number) -> "order-%05d".formatted(number * CAUSES + cause))
            .toArray(String[]::new);
    }

    /** Opens an address in a page that has not seen another, as a shared link does. */
    private static void open(String place) {
        browser.driver().get(site.address() + "?" + System.nanoTime() + place);
    }

    private static List<?> texts(String css) {
        return (List<?>) browser.run(
                "return [...document.querySelectorAll(arguments[0])].map(({ textContent }) => textContent.trim())",
                css);
    }

    @Test
    @Order(1)
    void showsEachPage() {
        String cause = causes().causes().get(0).group().key();
        browser.driver().executeCdpCommand("Network.clearBrowserCache", Map.of());
        show("#/", "All queues");
        show("#/", "All queues");
        show("#/queues/order-timeout", "There are no messages");
        show("#/queues/many-500", "message-");
        show("#/queues/many-0", "message-0000000");
        show("#/queues/orders/dead-letters", group(0));
        show("#/queues/orders/dead-letters?causeGroup=" + cause, "examined for this page");
        show("#/queues/many-0/messages/message-0000000", "Payload");
        show("#/search/message-0000001", "Message message-0000001");
        show("#/search/message-0000/many-0", "500 matches");
        show("#/search/order-000/orders", "100 matches");
        show("#/schedules", "yearly");
        show("#/nodes", "depots.deliver");
        open("#/");
        browser.awaitText("left out are many-0, many-1, many-10 and 994 others, without a listener.");
    }

    private static void show(String place, String text) {
        open(place);
        browser.awaitText(text);
        System.out.printf("%s with %,d messages, load %.1f: %s%n", place, MESSAGES,
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage(), browser.run(TIMES));
    }

    @Test
    @Order(2)
    void findsAMessageWhoseQueueIsUnknown() {
        int number = MESSAGES - 1;
        open("#/");
        browser.awaitText("All queues");
        browser.type("/");
        await().until(() -> "Id of a message".equals(browser.focused()));
        browser.type("message-%07d".formatted(number), Keys.ENTER);
        browser.awaitText("Message message-%07d".formatted(number));
        assertThat(browser.run("return location.hash"))
            .isEqualTo("#/queues/%s/messages/message-%07d".formatted(queueOf(number), number));
    }

    @Test
    @Order(3)
    void findsAllIdsThatBeginWithAText() {
        open("#/search/message-0000/many-0");
        // The number of entries is an estimate.
        browser.awaitText(" entries examined. Search again");
        assertThat(browser.text()).contains("500 matches, ");
        assertThat(texts("main li > a")).map(Object::toString)
            .containsExactlyInAnyOrder(IntStream.range(0, 500)
                .mapToObj((number) -> "message-%07d".formatted(2 * number))
                .toArray(String[]::new));
    }

    @Test
    @Order(4)
    void groupsDeadLettersByCause() {
        open("#/queues/orders/dead-letters");
        browser.awaitText(group(0));
        assertThat(texts("[aria-labelledby=causes] tbody th")).map(Object::toString)
            .containsExactlyInAnyOrder(
                    IntStream.range(0, CAUSES).mapToObj(DashboardScaleTests::group).toArray(String[]::new));
        assertThat(texts("[aria-labelledby=causes] tbody td.number")).map(Object::toString)
            .hasSize(CAUSES)
            .containsOnly(String.valueOf(EACH));
    }

    @Test
    @Order(5)
    void redrivesAndPurgesAllOfOneCauseAndNoOther() {
        Deliveries.broken = false;
        act("Redrive", 7, "redriven");
        await().atMost(LIMIT).until(() -> site.operations().statistics("orders").scheduled() == 0 && leased() == 0);
        assertThat(Deliveries.handled).containsExactlyInAnyOrder(ordersOf(7));
        act("Purge", 11, "purged");
        assertThat(Deliveries.handled).hasSize(EACH);
        DeadLetterCauses left = causes();
        assertThat(left.complete()).isTrue();
        assertThat(left.causes()).map((one) -> one.group().text() + " " + one.count())
            .containsExactlyInAnyOrder(IntStream.range(0, CAUSES)
                .filter((cause) -> cause != 7 && cause != 11)
                .mapToObj((cause) -> group(cause) + " " + EACH)
                .toArray(String[]::new));
    }

    private static void act(String verb, int cause, String done) {
        open("#/queues/orders/dead-letters");
        browser.click("section button", "%s %d: %s".formatted(verb, EACH, group(cause)));
        browser.click("dialog button", "%s: %d dead letters".formatted(verb, EACH));
        browser.awaitText("%d dead letters %s".formatted(EACH, done));
    }

    private static long leased() {
        return site.operations().statistics("orders").leased();
    }

    private static DeadLetterCauses causes() {
        return site.bean(DelayQueueInspector.class).deadLetterCauses("orders", false);
    }

    /** A shop whose orders fail for one of 40 causes. */
    @Configuration(proxyBeanMethods = false)
    @Import(DashboardSite.Shop.class)
    static class Depots {

        @Bean
        Deliveries depots() {
            return new Deliveries();
        }

    }

    static class Deliveries {

        static volatile boolean broken = true;

        static final Queue<String> handled = new ConcurrentLinkedQueue<>();

        @DelayedListener("orders")
        void deliver(Map<String, Object> order, Delivery delivery) {
            if (broken) {
                throw new IllegalStateException("%s for %s".formatted(order.get("reason"), delivery.id()));
            }
            handled.add(delivery.id());
        }

    }

}
