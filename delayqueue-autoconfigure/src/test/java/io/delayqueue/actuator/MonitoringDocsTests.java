package io.delayqueue.actuator;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedListener;
import io.delayqueue.QueueName;
import io.delayqueue.SkipReason;
import io.delayqueue.autoconfigure.DelayQueueAutoConfiguration;
import io.delayqueue.autoconfigure.DelayQueueListenerAutoConfiguration;
import io.delayqueue.autoconfigure.DelayQueueMetricsAutoConfiguration;
import io.delayqueue.intake.Intake;
import io.delayqueue.intake.IntakeGroup;
import io.delayqueue.intake.IntakeScheduler;
import io.delayqueue.journal.HistoryFactory;
import io.delayqueue.journal.HistorySettings;
import io.delayqueue.journal.JournalDatabase;
import io.delayqueue.journal.JournalFactory;
import io.delayqueue.journal.JournalMode;
import io.delayqueue.journal.JournalSettings;
import io.delayqueue.store.MessageEventRecorderFactory;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.routing.StoreComponents;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.willAnswer;
import static org.mockito.Mockito.mock;

/** Checks that dashboard, alerts and the table of meters refer to existing meters. */
class MonitoringDocsTests {

    private static final Path DOCS = Path.of("../docs");

    private static final Pattern METRIC = Pattern.compile("delayqueue_[a-z_]+");

    /** The suffixes that Prometheus adds for a timer. */
    private static final Pattern PART_OF_TIMER = Pattern.compile("_(bucket|count|sum|max)$");

    /** Labels that Prometheus adds. */
    private static final Set<String> PROMETHEUS = Set.of("le", "instance");

    @Test
    void boardAndAlertsNameMetersThatExistAndTheBoardAllOfThem() throws IOException {
        Set<String> real = new TreeSet<>();
        Set<String> tags = new TreeSet<>();
        withMeters((registry) -> {
            scrapedNames(registry).forEach(real::add);
            registry.getMeters().forEach((meter) -> meter.getId().getTags().forEach((tag) -> tags.add(tag.getKey())));
        });

        String board = Files.readString(DOCS.resolve("grafana/delayqueue.json"));
        String alerts = Files.readString(DOCS.resolve("alerts.yml"));
        assertThat(names(board)).containsExactlyInAnyOrderElementsOf(real);
        assertThat(names(alerts)).isNotEmpty().isSubsetOf(real);
        assertThat(Pattern.compile("by \\(([a-z, ]+)\\)")
            .matcher(board + alerts)
            .results()
            .flatMap((by) -> Arrays.stream(by.group(1).split(", ")))
            .filter((tag) -> !PROMETHEUS.contains(tag))).isNotEmpty().isSubsetOf(tags);
    }

    @Test
    void theTableListsAllMetersAndTheirTags() {
        withMeters((registry) -> {
            Map<String, Set<String>> real = registry.getMeters()
                .stream()
                .map(Meter::getId)
                .collect(Collectors.toMap((id) -> id.getName().substring("delayqueue.".length()),
                        MonitoringDocsTests::tagsOf, MonitoringDocsTests::union));

            Map<String, Set<String>> documented = lines("operations.md").stream()
                .dropWhile((line) -> !line.startsWith("| Meter |"))
                .skip(2)
                .takeWhile((line) -> line.startsWith("|"))
                .map((line) -> line.split("\\|"))
                .collect(Collectors.toMap((cells) -> codes(cells[1]).get(0), (cells) -> tagsOf(cells[3])));
            assertThat(documented).isEqualTo(real);
        });
    }

    @Test
    void theBoardCanBeImported() throws IOException {
        JsonNode board = JsonMapper.shared().readTree(Files.readString(DOCS.resolve("grafana/delayqueue.json")));

        List<Integer> ids = new ArrayList<>();
        for (JsonNode panel : board.get("panels")) {
            ids.add(panel.get("id").asInt());
            assertThat(panel.get("title").asString()).isNotBlank();
            if (!panel.get("type").asString().equals("row")) {
                assertThat(panel.get("description").asString()).isNotBlank();
                assertThat(panel.get("targets")).isNotEmpty()
                    .allSatisfy((target) -> assertThat(target.get("expr").asString())
                        .satisfies(MonitoringDocsTests::assertBalanced));
            }
        }
        assertThat(ids).isNotEmpty().doesNotHaveDuplicates();
    }

    /** A red panel means the same as the alert about its meter. */
    @Test
    void thresholdsOfTheBoardAreThoseOfTheAlerts() throws IOException {
        Map<String, String> alerts = Map.of("Oldest due", "DelayQueueBehind", "Oldest due message", "DelayQueueBehind",
                "Lateness", "DelayQueueLate", "Waiting for a broker", "DelayQueueHandlersWait");
        String rules = Files.readString(DOCS.resolve("alerts.yml"));
        JsonNode board = JsonMapper.shared().readTree(Files.readString(DOCS.resolve("grafana/delayqueue.json")));

        Map<String, String> thresholds = board.get("panels")
            .valueStream()
            .filter((panel) -> alerts.containsKey(panel.get("title").asString()))
            .collect(Collectors.toMap((panel) -> panel.get("title").asString(),
                    (panel) -> panel.at("/fieldConfig/defaults/thresholds/steps")
                        .valueStream()
                        .filter((step) -> step.get("color").asString().equals("red"))
                        .map((step) -> step.get("value").asString())
                        .findFirst()
                        .orElseThrow()));
        assertThat(thresholds).containsOnlyKeys(alerts.keySet())
            .allSatisfy((title, value) -> assertThat(rules)
                .containsPattern("alert: %s\\s+expr: (?s:(?!alert).)*? > %s\\s".formatted(alerts.get(title), value)));
    }

    @Test
    @SuppressWarnings("unchecked")
    void everyAlertHasADescriptionAndAnExplanation() throws IOException {
        Map<String, List<Map<String, Object>>> rules = new Yaml().load(Files.readString(DOCS.resolve("alerts.yml")));
        List<Map<String, Object>> alerts = (List<Map<String, Object>>) rules.get("groups").get(0).get("rules");
        String page = String.join("\n", lines("operations.md"));

        assertThat(alerts).isNotEmpty().allSatisfy((alert) -> {
            assertBalanced((String) alert.get("expr"));
            assertThat((Map<String, String>) alert.get("labels")).containsKey("severity");
            assertThat((Map<String, String>) alert.get("annotations")).containsKey("summary");
            assertThat(page).contains("`" + alert.get("alert") + "`");
        });
    }

    private static void assertBalanced(String expression) {
        for (String pair : List.of("()", "[]", "{}")) {
            assertThat(expression.chars().filter((c) -> c == pair.charAt(0)).count()).as(expression)
                .isEqualTo(expression.chars().filter((c) -> c == pair.charAt(1)).count());
        }
    }

    /** All there are, after a send, a handler, and a call of a script. */
    private static void withMeters(Consumer<PrometheusMeterRegistry> test) {
        withMeters((registry, events) -> test.accept(registry));
    }

    /** Runs a test with all meters, and the recorders that change some. */
    static void withMeters(BiConsumer<PrometheusMeterRegistry, MessageEventRecorderFactory> test) {
        new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(DelayQueueAutoConfiguration.class,
                    DelayQueueListenerAutoConfiguration.class, DelayQueueMetricsAutoConfiguration.class))
            .withPropertyValues("delayqueue.store=memory")
            .withBean(MeterRegistry.class, () -> new PrometheusMeterRegistry(PrometheusConfig.DEFAULT))
            .withBean(HistoryFactory.class, MonitoringDocsTests::history)
            .withUserConfiguration(JournalConfiguration.class)
            .withBean(IntakeGroup.class, MonitoringDocsTests::intake)
            .withBean(Handler.class)
            .run((context) -> {
                context.getBean(DelayQueueOperations.class).send("orders", "a", Duration.ofHours(1));
                MessageEventRecorderFactory events = context.getBean(MessageEventRecorderFactory.class);
                events.called("send", 1, true); // This store has no scripts.
                events.of(new QueueName("orders")).occurrencesSkipped(SkipReason.MISFIRE, 1);
                test.accept(context.getBean(PrometheusMeterRegistry.class), events);
            });
    }

    /** Provides a journal that nothing starts, and so needs no database. */
    @Configuration(proxyBeanMethods = false)
    static class JournalConfiguration {

        @Bean
        JournalFactory journal(StoreComponents store) {
            return new JournalFactory(new JournalDatabase(new DriverManagerDataSource(), "dq"), store,
                    (queue) -> JournalMode.OFF, new JournalSettings(Duration.ofSeconds(1), Duration.ZERO, true),
                    (event) -> {
                    });
        }

    }

    /** Records nothing, as no queue has a journal, and so needs no database. */
    private static HistoryFactory history() {
        return new HistoryFactory(new JournalDatabase(new DriverManagerDataSource(), "dq"), "node",
                (queue) -> JournalMode.OFF, new HistorySettings(Duration.ofDays(1), true, true, 1));
    }

    /** Reads from no broker. */
    private static IntakeGroup intake() {
        Intake intake = mock(Intake.class);
        given(intake.scheduler()).willReturn(new IntakeScheduler("kafka:late", new QueueName("orders"),
                new EnvelopeCodec(JsonMapper.shared()), mock(DelayQueueOperations.class), System::nanoTime));
        willAnswer((call) -> {
            call.<Runnable>getArgument(0).run();
            return null;
        }).given(intake).stop(any());
        return new IntakeGroup(List.of(intake));
    }

    private static Stream<String> scrapedNames(PrometheusMeterRegistry registry) {
        return registry.scrape()
            .lines()
            .filter((line) -> line.startsWith("delayqueue_"))
            .map((line) -> base(line.split("[{ ]", 2)[0]));
    }

    private static Set<String> names(String text) {
        return METRIC.matcher(text)
            .results()
            .map(MatchResult::group)
            .map(MonitoringDocsTests::base)
            .collect(Collectors.toCollection(TreeSet::new));
    }

    private static String base(String name) {
        return PART_OF_TIMER.matcher(name).replaceAll("");
    }

    private static Set<String> tagsOf(Meter.Id id) {
        return id.getTags()
            .stream()
            .map((tag) -> tag.getKey())
            .filter((tag) -> !tag.equals("queue"))
            .collect(Collectors.toSet());
    }

    /** Tags of a cell, whose values follow a colon or lie behind a semicolon. */
    private static Set<String> tagsOf(String cell) {
        return Stream.of("listener", "outcome", "reason", "script", "source")
            .filter((tag) -> cell.contains("`" + tag + "`"))
            .collect(Collectors.toSet());
    }

    private static Set<String> union(Set<String> one, Set<String> other) {
        return Stream.concat(one.stream(), other.stream()).collect(Collectors.toSet());
    }

    private static List<String> codes(String cell) {
        return Pattern.compile("`([^`]+)`").matcher(cell).results().map((code) -> code.group(1)).toList();
    }

    private static List<String> lines(String page) {
        try {
            return Files.readAllLines(DOCS.resolve(page));
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    static class Handler {

        @DelayedListener("orders")
        void handle(String payload) {
        }

    }

}
