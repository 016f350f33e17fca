package io.delayqueue.web.dashboard;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedMessage;
import io.delayqueue.ScheduledOccurrence;
import io.delayqueue.admin.AuditedOperationEvent;
import io.delayqueue.store.schedule.OccurrenceIds;
import io.delayqueue.web.consume.ApiServer;
import io.delayqueue.web.consume.ApiServer.Reply;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Checks the page like a client without scripts: its address, access and headers. */
@Tag("server")
class DashboardTests {

    private static final String PAGE = "/shop/ops/queues";

    private static final String QUEUES = PAGE + "/data/queues/";

    private static ApiServer server;

    @BeforeAll
    static void start() {
        server = ApiServer.start(Shop.class, "server.servlet.context-path=/shop", "delayqueue.web.api.enabled=false",
                "delayqueue.web.dashboard.enabled=true", "delayqueue.web.dashboard.path=/ops/queues",
                "server.forward-headers-strategy=framework");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static Reply view(String path) {
        return server.call("view", "GET", path, null);
    }

    private static Reply operate(String path, String body) {
        return server.call(ApiServer.ALL, "POST", path, body);
    }

    @Test
    void isDisabledByDefault() {
        try (ApiServer other = ApiServer.start()) {
            assertThat(other.get("/delayqueue").status()).isEqualTo(404);
            assertThat(other.get("/delayqueue/data/overview").status()).isEqualTo(404);
        }
    }

    @Test
    void isAtItsPathBelowTheContextPath() {
        Reply bare = view(PAGE);
        assertThat(bare.status()).isEqualTo(308);
        assertThat(bare.header("Location")).isEqualTo("queues/");
        Reply page = view(PAGE + "/");
        assertThat(page.status()).isEqualTo(200);
        assertThat(page.header("Content-Type")).isEqualTo("text/html;charset=UTF-8");
        assertThat(page.body()).containsPattern("<script type=\"module\" src=\"files/[0-9a-f]+/main.js\">");
    }

    @Test
    void worksBehindAProxyThatChangesPaths() {
        Reply bare = server.send("GET", PAGE, null,
                (request) -> request.header("Authorization", ApiServer.basic("view"))
                    .header("X-Forwarded-Prefix", "/behind")
                    .header("X-Forwarded-Host", "shop.example.com")
                    .header("X-Forwarded-Proto", "https"));
        assertThat(bare.status()).isEqualTo(308);
        assertThat(bare.header("Location")).isIn("queues/", "https://shop.example.com/behind/ops/queues/");
    }

    /** The page loads relative addresses only, and nothing from elsewhere. */
    @ParameterizedTest
    @ValueSource(strings = { "index.html", "main.js", "store.js", "throughput.js", "history.js", "frame.js", "queue.js",
            "dead-letters.js", "message.js", "transitions.js", "nodes.js", "overview.js", "alerts.js", "plots.js",
            "dialog.js", "format.js", "scan.js", "search.js", "address.js", "pages.js", "forget.js", "outage.js",
            "lateness.js", "activity.js", "next-hour.js", "icons.js", "copy.js", "pause.js", "occurrence.js",
            "schedules.js", "schedule.js", "schedule-actions.js", "node.js", "handlers.js", "overrides.js", "stacks.js",
            "dashboard.css" })
    void usesNoAbsolutePaths(String file) throws IOException {
        assertThat(source(file)).doesNotContainPattern("(src|href|fetch|from|url)[=(\\s]*['\"`](/|https?:|//)");
    }

    /** External texts are shown as text. */
    @Test
    void escapesExternalTexts() throws IOException {
        Pattern unsafe = Pattern
            .compile("innerHTML|outerHTML|insertAdjacentHTML|document\\.write|unsafe|eval\\(|Function\\(");
        for (String file : List.of("main.js", "store.js", "format.js", "frame.js", "dialog.js", "plots.js",
                "throughput.js", "history.js", "overview.js", "queue.js", "message.js", "transitions.js",
                "dead-letters.js", "nodes.js", "alerts.js", "scan.js", "search.js", "address.js", "pages.js",
                "forget.js", "outage.js", "lateness.js", "activity.js", "next-hour.js", "icons.js", "copy.js",
                "pause.js", "occurrence.js", "schedules.js", "schedule.js", "schedule-actions.js", "node.js",
                "handlers.js", "overrides.js", "stacks.js")) {
            assertThat(source(file)).doesNotContainPattern(unsafe);
        }
        assertThat(source("index.html")).doesNotContainPattern("(?i)style=|\\son[a-z]+=|<script>|<style>");
    }

    /** The page links a message to the schedule whose name is in its id. */
    @Test
    void findsTheNameOfTheScheduleInIdsOfOccurrences() throws IOException {
        Matcher expression = Pattern.compile("const ID = /(.+)/;").matcher(source("occurrence.js"));
        assertThat(expression.find()).isTrue();
        Pattern id = Pattern.compile(expression.group(1));

        String occurrence = ScheduledOccurrence.messageId("daily-report", Instant.parse("2026-11-26T06:00:00Z"));
        for (String sent : List.of(occurrence, occurrence + "-triggered")) {
            assertThat(id.matcher(sent).replaceFirst("$1")).isEqualTo("daily-report");
            assertThat(OccurrenceIds.of(sent, Map.of())).isNotNull();
        }
        assertThat(id.matcher("order-42").matches()).isFalse();
    }

    @Test
    void marksQueuesByTheTitleOfTheirAlert() throws IOException {
        assertThat(source("alerts.js")).contains("NO_CONSUMER = '" + AlertEvaluator.NO_CONSUMER + "'");
    }

    private static String source(String file) throws IOException {
        try (InputStream content = Objects.requireNonNull(DashboardFiles.class.getResourceAsStream("static/" + file))) {
            return new String(content.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = { "/", "/main.js", "/dashboard.css", "/icon.svg", "/lib/chart.js", "/lib/lit-html.js",
            "/lib/directives/repeat.js" })
    void theContentPolicyAllowsOnlyItsOwnScripts(String file) {
        Reply reply = view(PAGE + file);
        assertThat(reply.status()).isEqualTo(200);
        assertThat(reply.http().headers().allValues("Content-Security-Policy"))
            .containsExactly(DashboardFiles.CONTENT_POLICY);
        assertThat(DashboardFiles.CONTENT_POLICY)
            .contains("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'",
                    "require-trusted-types-for 'script'")
            .doesNotContain("unsafe");
        assertThat(reply.header("X-Content-Type-Options")).isEqualTo("nosniff");
        assertThat(reply.header("X-Frame-Options")).isEqualTo("DENY");
        assertThat(reply.header("Referrer-Policy")).isEqualTo("no-referrer");
        assertThat(reply.header("Cross-Origin-Resource-Policy")).isEqualTo("same-origin");
        assertThat(reply.header("Set-Cookie")).isEmpty();
        Reply again = server.send("GET", PAGE + file, null,
                (request) -> request.header("Authorization", ApiServer.basic("view"))
                    .header("If-None-Match", reply.header("ETag")));
        assertThat(again.status()).isEqualTo(304);
    }

    /** Files of one version never change, so that a browser requests them once. */
    @Test
    void browsersKeepTheFilesOfAVersion() {
        Matcher address = Pattern.compile("src=\"(files/[0-9a-f]+)/main.js\"").matcher(view(PAGE + "/").body());
        assertThat(address.find()).isTrue();

        Reply kept = view("%s/%s/main.js".formatted(PAGE, address.group(1)));
        Reply ofAnotherNode = view(PAGE + "/files/0/main.js");

        assertThat(kept.header("Cache-Control")).isEqualTo("private, max-age=31536000, immutable");
        assertThat(ofAnotherNode.body()).isEqualTo(kept.body());
        for (String changing : List.of("/files/0/main.js", "/main.js", "/")) {
            assertThat(view(PAGE + changing).header("Cache-Control")).as(changing).isEqualTo("private, no-cache");
        }
    }

    private static Reply zipped(String file, String encodings) {
        return server.send("GET", PAGE + file, null,
                (request) -> request.header("Authorization", ApiServer.basic("view"))
                    .header("Accept-Encoding", encodings));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = { "gzip|gzip", "br, gzip;q=0.5|gzip", "gzip;q=0|", "br|", "identity|" })
    void isCompressedForBrowsersThatAcceptIt(String encodings, @Nullable String expected) {
        Reply reply = zipped("/main.js", encodings);

        assertThat(reply.header("Content-Encoding")).isEqualTo((expected != null) ? expected : "");
        assertThat(reply.header("Vary")).contains("Accept-Encoding");
        assertThat(reply.header("ETag")).endsWith((expected != null) ? "-gzip\"" : "\"").isNotEqualTo("");
    }

    /** The server of an application does not compress by default. */
    @Test
    void largeDataIsCompressedForBrowsersThatAcceptIt() {
        try (ApiServer other = ApiServer.start("delayqueue.web.dashboard.enabled=true")) {
            for (int i = 0; i < 1_000; i++) {
                other.operations().send("order-timeout-" + i, i, Duration.ofMinutes(i));
            }
            String data = "/delayqueue/data/overview";
            Reply plain = other.get(data);
            Reply zipped = other.send("GET", data, null,
                    (request) -> request.header("Authorization", ApiServer.basic("view"))
                        .header("Accept-Encoding", "gzip"));

            assertThat(plain.json().path("queues")).hasSize(1_000);
            assertThat(plain.header("Content-Encoding")).isEmpty();
            assertThat(plain.header("Vary")).isEqualTo("Accept-Encoding");
            assertThat(zipped.header("Content-Encoding")).isEqualTo("gzip");
            assertThat(Long.parseLong(zipped.header("Content-Length")))
                .isLessThan(Long.parseLong(plain.header("Content-Length")) / 4);
        }
    }

    /** A browser loads all files with the first page. */
    @Test
    void needsAtMost150Kilobytes() {
        long bytes = Stream.concat(Stream.of("", "dashboard.css", "icon.svg"), DashboardFiles.SCRIPTS.stream())
            .mapToLong((file) -> Long.parseLong(zipped("/" + file, "gzip").header("Content-Length")))
            .sum();

        assertThat(bytes).isBetween(50_000L, 150_000L);
    }

    @ParameterizedTest
    @ValueSource(strings = { "/main.js/", "/../main.js", "/files/0/", "/files/0/../main.js", "/files/main.js",
            "/files/0/files/0/main.js", "/lib/../main.js", "/index.html", "/lib/", "/data", "/%2e%2e/",
            "/lib/LICENSE-chart.js.txt" })
    void hasNoOtherFiles(String path) {
        // Paths that leave the dashboard are not its own: the application answers 401.
        assertThat(view(PAGE + path).status()).isIn(400, 401, 404);
    }

    @ParameterizedTest
    @CsvSource({ ",401", "none,403", "send,403", "consume,403", "payload,403", "operate,403", "view,200" })
    void requiresTheViewAuthority(@Nullable String user, int status) {
        assertThat(server.call(user, "GET", PAGE + "/", null).status()).isEqualTo(status);
        assertThat(server.call(user, "GET", PAGE + "/main.js", null).status()).isEqualTo(status);
        assertThat(server.call(user, "GET", PAGE + "/data/overview", null).status()).isEqualTo(status);
    }

    @ParameterizedTest
    @CsvSource({ "PUT,queues/q/pause", "DELETE,queues/q/pause", "POST,queues/q/messages/cancel",
            "POST,queues/q/messages/reschedule", "POST,queues/q/dead-letters/redrive",
            "POST,queues/q/dead-letters/purge", "DELETE,queues/q", "POST,queues/q/dead-letters/by-id/redrive",
            "DELETE,queues/q/dead-letters/by-id", "PUT,queues/q/schedules/by-name/pause",
            "DELETE,queues/q/schedules/by-name/pause", "POST,queues/q/schedules/by-name/trigger",
            "DELETE,queues/q/schedules/by-name", "PUT,nodes/n/overrides", "DELETE,nodes/n/overrides",
            "POST,nodes/n/stacks" })
    void changesNothingWithoutTheOperateAuthority(String method, String route) {
        for (String user : List.of("view", "payload", "send", "consume", ApiServer.NONE)) {
            assertThat(server.call(user, method, PAGE + "/data/" + route, "{}").status()).as(user).isEqualTo(403);
        }
        assertThat(server.call(null, method, PAGE + "/data/" + route, "{}").status()).isEqualTo(401);
        assertThat(view(PAGE + "/data/" + route).status()).as("GET changes nothing").isIn(400, 403, 404, 405);
    }

    @ParameterizedTest
    @CsvSource({ "Sec-Fetch-Site,cross-site", "Sec-Fetch-Site,same-site", "Origin,https://evil.example",
            "Origin,null" })
    void changesNothingForPagesOfOtherSites(String header, String value) {
        server.operations().resume("guarded");
        Reply reply = server.send("PUT", QUEUES + "guarded/pause", "{}",
                (request) -> request.header("Authorization", ApiServer.basic(ApiServer.ALL))
                    .header("Content-Type", "application/json")
                    .header(header, value));
        assertThat(reply.status()).isEqualTo(403);
        assertThat(reply.problem()).isEqualTo("cross-site");
    }

    /** A script gets JSON; a browser shows the page to a person. */
    @Test
    void explainsToAPersonWhyAccessIsDenied() {
        Reply reply = server.send("GET", PAGE + "/", null,
                (request) -> request.header("Authorization", ApiServer.basic(ApiServer.NONE))
                    .header("Accept", "text/html,application/xhtml+xml"));
        assertThat(reply.status()).isEqualTo(403);
        assertThat(reply.header("Content-Type")).isEqualTo("text/html;charset=UTF-8");
        assertThat(reply.body()).contains("You have no access to this dashboard", "DELAYQUEUE_VIEW",
                "signed in as <strong>none</strong>");
        assertThat(server.call(ApiServer.NONE, "GET", PAGE + "/", null).problem()).isEqualTo("forbidden");
        assertThat(server
            .send("GET", PAGE + "/data/overview", null,
                    (request) -> request.header("Authorization", ApiServer.basic(ApiServer.NONE))
                        .header("Accept", "text/html"))
            .problem()).isEqualTo("forbidden");
    }

    @Test
    void returnsAllQueuesAtOnce() {
        server.operations().send("orders", Map.of("order", 1), Duration.ofHours(1));
        JsonNode details = view(QUEUES + "orders").json();
        assertThat(details.path("scheduled").intValue()).isPositive();
        JsonNode overview = view(PAGE + "/data/overview").json();
        assertThat(overview.path("principal").asString()).isEqualTo("view");
        assertThat(overview.path("authorities").toString()).isEqualTo("[\"VIEW\"]");
        assertThat(overview.path("alerts").isArray()).isTrue();
    }

    @Test
    void cancelsManyMessagesAndReturnsEachResult() {
        for (String id : List.of("a", "b")) {
            server.operations()
                .send(DelayedMessage.builder("many", Map.of("id", id)).id(id).delay(Duration.ofHours(1)).build());
        }
        JsonNode page = view(QUEUES + "many/messages?listing=SCHEDULED&limit=1").json();
        assertThat(page.path("messages").path(0).path("id").asString()).isEqualTo("a");
        assertThat(page.path("nextCursor").isString()).isTrue();

        Reply moved = operate(QUEUES + "many/messages/reschedule", "{\"ids\": [\"b\"], \"delayMillis\": 0}");
        assertThat(moved.json().path("results").toString()).isEqualTo("[{\"id\":\"b\",\"result\":\"RESCHEDULED\"}]");
        Reply cancelled = operate(QUEUES + "many/messages/cancel", "{\"ids\": [\"a\", \"b\", \"c\"]}");

        assertThat(cancelled.json().path("results").findValuesAsString("result")).containsExactly("CANCELLED",
                "CANCELLED", "NOT_FOUND");
        assertThat(server.audited()).anySatisfy((event) -> {
            assertThat(event.operation()).isEqualTo("cancel");
            assertThat(event.queue()).isEqualTo("many");
            assertThat(event.count()).isEqualTo(2);
        });
    }

    @Test
    void pausesAQueueUntilATime() {
        assertThat(server.call(ApiServer.ALL, "PUT", QUEUES + "pausing/pause", "{}").status()).isEqualTo(404);
        server.operations().send("pausing", Map.of(), Duration.ofHours(1));
        Reply paused = server.call(ApiServer.ALL, "PUT", QUEUES + "pausing/pause", "{\"forMillis\": 60000}");
        assertThat(paused.json().path("alreadyPaused").booleanValue()).isFalse();
        assertThat(paused.json().path("until").isString()).isTrue();
        assertThat(view(QUEUES + "pausing").json().path("paused").booleanValue()).isTrue();
        assertThat(
                server.call(ApiServer.ALL, "DELETE", QUEUES + "pausing/pause", null).json().path("result").asString())
            .isEqualTo("RESUMED");
        assertThat(server.audited()).extracting(AuditedOperationEvent::operation).contains("pause", "resume");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = { "messages/cancel|{\"ids\": []}", "messages/cancel|{\"ids\": [1]}",
            "messages/cancel|{\"ids\": [\"a b\"]}", "messages/reschedule|{\"ids\": [\"a\"], \"delayMillis\": -1}",
            "PUT pause|{\"forMillis\": -1}", "PUT pause|{\"forMillis\": 1, \"until\": \"2030-01-01T00:00:00Z\"}",
            "PUT pause|{\"until\": \"soon\"}", "dead-letters/count|{\"filter\": {\"causeGroup\": \"x\"}}",
            "dead-letters/purge|{\"filter\": {}, \"cursor\": \"../1\"}", "dead-letters/purge|{\"filter\": {}}",
            "dead-letters/search|{\"filter\": {}, \"cursor\": \"<b>\"}", "dead-letters/search|{}" })
    void rejectsInvalidRequests(String route, String body) {
        boolean put = route.startsWith("PUT ");
        Reply reply = server.call(ApiServer.ALL, put ? "PUT" : "POST", QUEUES + "q/" + route.replace("PUT ", ""), body);
        assertThat(reply.status()).isEqualTo(400);
        assertThat(reply.header("Content-Type")).startsWith("application/problem+json");
    }

    @Test
    void returnsHandlerStartsByLateness() {
        for (int i = 0; i < 3; i++) {
            server.operations().send("counted", Map.of("order", i), Duration.ZERO);
        }
        await().untilAsserted(() -> assertThat(begun(view(QUEUES + "counted").json())).isEqualTo(3));
        JsonNode overview = view(PAGE + "/data/overview").json();
        assertThat(begun(overview)).isGreaterThanOrEqualTo(3);
        assertThat(overview.path("throughput").path("node"))
            .isEqualTo(view(QUEUES + "counted").json().path("throughput").path("node"));
        server.operations().send("unheard", Map.of("order", 1), Duration.ofHours(1));
        assertThat(view(QUEUES + "unheard").json().path("throughput").isNull()).isTrue();
    }

    private static long begun(JsonNode json) {
        long begun = 0;
        for (JsonNode entry : json.path("throughput").path("lateness")) {
            assertThat(entry.path(0).longValue()).isPositive();
            begun += entry.path(1).longValue();
        }
        return begun;
    }

    /** Listens to two queues, to distinguish them. */
    @Configuration(proxyBeanMethods = false)
    @Import(ApiServer.Application.class)
    static class Shop {

        @Bean
        Handlers handlers() {
            return new Handlers();
        }

    }

    static class Handlers {

        @DelayedListener({ "counted", "counted-too" })
        void count(Map<String, Object> order) {
        }

    }

}
