package io.delayqueue.actuator;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import com.sun.net.httpserver.HttpServer;
import io.delayqueue.QueueName;
import io.delayqueue.SendOutcome;
import io.delayqueue.SkipReason;
import io.delayqueue.store.MessageEventRecorder;
import io.delayqueue.store.MessageEventRecorderFactory;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Runs the queries of the Grafana board and the alert rules in a Prometheus server, which
 * scrapes the meters, if one is installed. {@code -Ddq.prometheus=required} fails without
 * one.
 */
@Tag("server")
class PrometheusTests {

    private static final Path DOCS = Path.of("../docs").toAbsolutePath().normalize();

    @Test
    void everyQueryOfTheBoardFindsItsMetersAndTheRulesCanBeEvaluated(@TempDir Path directory) {
        Path executable = executable().orElse(null);
        boolean required = "required".equals(System.getProperty("dq.prometheus"));
        Assumptions.assumeTrue(executable != null || required, "prometheus is not installed");
        assertThat(executable).as("an executable 'prometheus' on the PATH, as -Ddq.prometheus is 'required'")
            .isNotNull();
        MonitoringDocsTests.withMeters((registry, events) -> {
            try (Metrics metrics = new Metrics(registry);
                    Prometheus prometheus = Prometheus.start(executable, directory, metrics.port())) {
                await().until(() -> prometheus.query("sum_over_time(up[1m]) > 1").size() == 1);
                record(events);
                events.of(new QueueName("unheard")).sent(SendOutcome.SCHEDULED);
                // Of a further system, whose queues have no gauges.
                events.of(new QueueName("further"), "listener").started(1_000_000);
                events.of(new QueueName("further")).sent(SendOutcome.SCHEDULED);
                await().untilAsserted(() -> assertThat(prometheus.query("increase(delayqueue_dead_lettered_total[1m])"))
                    .isNotEmpty());

                for (String expression : expressions()) {
                    await().untilAsserted(() -> assertThat(prometheus.query(expression)).as(expression).isNotEmpty());
                }
                await().untilAsserted(() -> assertThat(prometheus.rules()).isNotEmpty()
                    .allSatisfy(
                            (rule) -> assertThat(rule.get("health").asString()).as(rule.toString()).isEqualTo("ok")));
                await().untilAsserted(() -> assertThat(prometheus.firing()).contains("DelayQueueDying"));
                assertThat(prometheus.firing()).doesNotContain("DelayQueueLosesLeases");
                await()
                    .untilAsserted(() -> assertThat(prometheus.queues("DelayQueueUnheard")).containsExactly("unheard"));
            }
        });
    }

    /** Records one of each event, after the first scrape. */
    private static void record(MessageEventRecorderFactory events) {
        MessageEventRecorder orders = events.of(new QueueName("orders"));
        orders.started(1_000_000);
        orders.handled(MessageEventRecorder.HandlerOutcome.SUCCESS, 1_000_000);
        orders.deadLettered();
        orders.occurrencesSkipped(SkipReason.MISFIRE, 1);
        events.called("send", 1_000_000, true);
        events.called("send", 1_000_000, false);
    }

    private static List<String> expressions() {
        List<String> expressions = new ArrayList<>();
        for (JsonNode panel : JsonMapper.shared().readTree(DOCS.resolve("grafana/delayqueue.json")).get("panels")) {
            for (JsonNode target : panel.path("targets")) {
                expressions
                    .add(target.get("expr").asString().replace("$queue", ".*").replace("$__rate_interval", "1m"));
            }
        }
        assertThat(expressions).hasSizeGreaterThan(30);
        return expressions;
    }

    private static Optional<Path> executable() {
        return Arrays.stream(System.getenv().getOrDefault("PATH", "").split(":"))
            .map((directory) -> Path.of(directory, "prometheus"))
            .filter(Files::isExecutable)
            .findFirst();
    }

    /** Serves the meters as an application's Actuator endpoint does. */
    private static final class Metrics implements AutoCloseable {

        private final HttpServer server;

        Metrics(PrometheusMeterRegistry registry) {
            try {
                this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            }
            catch (IOException ex) {
                throw new UncheckedIOException(ex);
            }
            this.server.createContext("/actuator/prometheus", (exchange) -> {
                byte[] body = registry.scrape().getBytes(StandardCharsets.UTF_8);
                exchange.getResponseHeaders().add("Content-Type", "text/plain; version=0.0.4");
                exchange.sendResponseHeaders(200, body.length);
                exchange.getResponseBody().write(body);
                exchange.close();
            });
            this.server.start();
        }

        int port() {
            return this.server.getAddress().getPort();
        }

        @Override
        public void close() {
            this.server.stop(0);
        }

    }

    /**
     * A Prometheus server with the alert rules of the documentation.
     *
     * @param process the server
     * @param url its address
     * @param client sends the requests
     */
    private record Prometheus(Process process, String url, HttpClient client) implements AutoCloseable {

        static Prometheus start(Path executable, Path directory, int scraped) {
            Path configuration = directory.resolve("prometheus.yml");
            try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                String address = "127.0.0.1:" + free.getLocalPort();
                Files.writeString(configuration, """
                        global: {scrape_interval: 500ms, evaluation_interval: 500ms}
                        rule_files: ["%s"]
                        scrape_configs:
                          - job_name: shop
                            metrics_path: /actuator/prometheus
                            static_configs: [{targets: ["127.0.0.1:%d"]}]
                        """.formatted(DOCS.resolve("alerts.yml"), scraped));
                free.close();
                Process process = new ProcessBuilder(executable.toString(), "--config.file=" + configuration,
                        "--storage.tsdb.path=" + directory.resolve("data"), "--web.listen-address=" + address)
                    .redirectErrorStream(true)
                    .redirectOutput(directory.resolve("prometheus.log").toFile())
                    .start();
                return new Prometheus(process, "http://" + address, HttpClient.newHttpClient());
            }
            catch (IOException ex) {
                throw new UncheckedIOException(ex);
            }
        }

        /** Returns the series that a query finds now; none before the server answers. */
        List<JsonNode> query(String expression) {
            return get("/api/v1/query?query=" + URLEncoder.encode(expression, StandardCharsets.UTF_8))
                .at("/data/result")
                .valueStream()
                .toList();
        }

        List<JsonNode> rules() {
            return get("/api/v1/rules").at("/data/groups")
                .valueStream()
                .flatMap((group) -> group.get("rules").valueStream())
                .toList();
        }

        List<String> firing() {
            return rules().stream()
                .filter((rule) -> rule.get("state").asString().equals("firing"))
                .map((rule) -> rule.get("name").asString())
                .toList();
        }

        /** Returns the queues for which an alert is pending or firing. */
        List<String> queues(String alert) {
            return rules().stream()
                .filter((rule) -> rule.get("name").asString().equals(alert))
                .flatMap((rule) -> rule.get("alerts").valueStream())
                .map((active) -> active.at("/labels/queue").asString())
                .toList();
        }

        private JsonNode get(String path) {
            try {
                String body = this.client
                    .sendAsync(HttpRequest.newBuilder(URI.create(this.url + path)).build(), BodyHandlers.ofString())
                    .thenApply((response) -> response.body())
                    .exceptionallyCompose((failure) -> this.process.isAlive() ? CompletableFuture.completedFuture("{}")
                            : CompletableFuture.failedFuture(failure))
                    .join();
                JsonNode answer = JsonMapper.shared().readTree(body.startsWith("{") ? body : "{}");
                assertThat(answer.path("error").asString("")).as(path).isEmpty();
                return answer;
            }
            catch (RuntimeException ex) {
                throw new IllegalStateException("Prometheus has ended with " + this.process, ex);
            }
        }

        @Override
        public void close() {
            this.process.destroy();
            this.process.onExit().join();
        }

    }

}
