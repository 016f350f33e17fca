package io.delayqueue.web.dashboard;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.delayqueue.DelayedMessage;
import io.delayqueue.web.Browser;
import io.delayqueue.web.DashboardSite;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks that the dashboard shows payloads as they are stored, so that an id copied from
 * one is exact. Skipped if there is no Chromium.
 */
@Tag("server")
@Tag("matrix")
class DashboardPayloadTests {

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

    private static void send(String id, Object payload) {
        site.operations()
            .send(DelayedMessage.builder("order-timeout", payload).id(id).delay(Duration.ofHours(1)).build());
    }

    private static void open(String id) {
        browser.run("location.hash = '#/queues/order-timeout/messages/' + encodeURIComponent(arguments[0])", id);
        browser.awaitText("Lapses");
    }

    private static Object payload() {
        return browser.run("return document.querySelector('pre').textContent");
    }

    @Test
    void showsNumbersWithAllTheirDigits() {
        send("numbers", new TreeMap<>(Map.of("account", 1234567890123456789L, "price", new BigDecimal("42.50"), "none",
                List.of(), "payload", Map.of("text", "a \"b\" \\ {[,:]}\n"))));
        open("numbers");

        assertThat(payload()).isEqualTo("""
                {
                  "account": 1234567890123456789,
                  "none": [],
                  "payload": {
                    "text": "a \\"b\\" \\\\ {[,:]}\\n"
                  },
                  "price": 42.50
                }""");
        site.operations().cancel("order-timeout", "numbers");
    }

    @Test
    void showsAPayloadThatIsANumber() {
        send("number", new BigDecimal("12345678901234567890.10"));
        open("number");

        assertThat(payload()).isEqualTo("12345678901234567890.10");
        site.operations().cancel("order-timeout", "number");
    }

}
