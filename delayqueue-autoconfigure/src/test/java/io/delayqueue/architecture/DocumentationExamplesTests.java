package io.delayqueue.architecture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.delayqueue.autoconfigure.DelayQueueProperties;
import io.delayqueue.fixtures.application.DocumentationBlocks;
import io.delayqueue.fixtures.application.DocumentationBlocks.Block;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks that the examples of all pages compile, and that their properties can be bound.
 * Those that need the HTTP API are checked in delayqueue-web.
 */
public class DocumentationExamplesTests {

    private static final String FRAME = """
            import io.delayqueue.*;
            import io.delayqueue.admin.*;
            import io.delayqueue.forward.*;
            import io.delayqueue.listener.poll.*;
            import io.delayqueue.autoconfigure.*;
            import io.delayqueue.listener.*;
            import io.delayqueue.template.DelayQueueTemplate;
            import io.lettuce.core.resource.*;
            import jakarta.validation.Valid;
            import java.time.*;
            import java.util.*;
            import java.util.concurrent.*;
            import org.slf4j.*;
            import org.springframework.beans.factory.annotation.Qualifier;
            import org.springframework.context.annotation.Bean;
            import org.springframework.context.event.EventListener;
            import org.springframework.core.task.TaskDecorator;
            import org.springframework.data.redis.connection.*;
            import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
            import org.springframework.messaging.handler.annotation.*;
            import org.springframework.pulsar.core.PulsarTemplate;
            import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
            import org.springframework.transaction.annotation.Transactional;

            class Example {

                record OrderTimeout(long orderId) {
                }

                static final Logger log = LoggerFactory.getLogger(Example.class);

                DelayQueueTemplate delayQueue;

                DelayQueueIntegrityChecker checker;

                %s
            }
            """;

    /** The methods of Spring for Apache Pulsar that a page calls. */
    private static final Block PULSAR = new Block("pulsar", 0, "java", """
            package org.springframework.pulsar.core;

            public interface PulsarTemplate<T> {

                Message<T> newMessage(T message);

                interface Message<T> {

                    Message<T> withTopic(String topic);

                    Message<T> withMessageCustomizer(java.util.function.Consumer<Builder> customizer);

                    java.util.concurrent.CompletableFuture<Object> sendAsync();

                }

                interface Builder {

                    Builder properties(java.util.Map<String, String> properties);

                }

            }
            """);

    /** Need delayqueue-web or delayqueue-test, whose own tests check them. */
    private static final Set<String> PAGES_OF_OTHERS = Set.of("docs/dashboard.md", "docs/http-api.md",
            "docs/testing.md");

    /** Languages whose blocks a test reads, or that have nothing to run. */
    private static final Set<String> LANGUAGES = Set.of("java", "kotlin", "yaml", "json", "shell", "xml", "mermaid",
            "text");

    /** Marks an example that needs delayqueue-test. */
    private static final String TEST_KIT = "@DelayQueueTest";

    /** Prefixes that other properties classes have, or conditions alone read. */
    private static final List<String> ELSEWHERE = List.of("delayqueue.web.", "delayqueue.enabled",
            "delayqueue.observation.", "delayqueue.metrics.", "delayqueue.health.", "delayqueue.journal.jdbc.");

    /** A property with a value, within a line. */
    private static final Pattern SETTING = Pattern.compile("`(delayqueue\\.[^`=: ]+)(?:=|: )([^`]+)`");

    /** A call of the API, within a line. */
    private static final Pattern CALL = Pattern
        .compile("`((?:delayQueue\\.[a-zA-Z]+|DelayedMessage\\.builder)\\([^`]*\\))`");

    /** A name of a property of Spring Boot. */
    private static final Pattern OF_BOOT = Pattern
        .compile("`((?:spring|management|server)\\.[a-z0-9.-]+[a-z0-9])(?![a-z0-9./])[^`]*`");

    /**
     * Prefixes of modules that are not on this class path: delayqueue-web checks the
     * first two.
     */
    private static final List<String> ELSEWHERE_OF_BOOT = List.of("server.", "spring.security.", "spring.kafka.",
            "spring.rabbitmq.", "spring.cache.", "management.tracing.");

    @Test
    @Tag("long")
    void javaCompiles(@TempDir Path classes) {
        List<Block> blocks = DocumentationBlocks.in("java")
            .stream()
            .filter((block) -> !PAGES_OF_OTHERS.contains(block.page()) && !block.code().contains(TEST_KIT))
            .toList();
        assertThat(blocks).hasSizeGreaterThan(25);
        assertThat(DocumentationBlocks.compile(blocks, FRAME, classes, List.of(PULSAR))).isEmpty();
    }

    /** The pages about other libraries have calls in tables. */
    @Test
    @Tag("long")
    void callsWithinTheTextCompile(@TempDir Path classes) {
        Set<String> calls = new TreeSet<>();
        DocumentationTests.pages()
            .forEach((page) -> CALL.matcher(DocumentationTests.read(page))
                .results()
                .map((call) -> call.group(1))
                .filter((call) -> !call.contains("..."))
                .forEach(calls::add));
        assertThat(calls).hasSizeGreaterThan(8);
        Block block = new Block("calls", 0, "java", "void calls(Order order, Instant instant, Duration delay) {\n    "
                + String.join(";\n    ", calls) + ";\n}\nrecord Order(long id) {\n}");
        assertThat(DocumentationBlocks.compile(List.of(block), FRAME, classes, List.of(PULSAR))).isEmpty();
    }

    /**
     * SQL is in no language of the list: a page that has some needs a test that runs it.
     */
    @Test
    void blocksAreInLanguagesThatTestsRead() {
        assertThat(DocumentationBlocks.all().filter((block) -> !LANGUAGES.contains(block.language()))).isEmpty();
    }

    @Test
    void kotlinIsThatOfTheModuleWhichCompilesIt() {
        String compiled = DocumentationTests
            .read(Path.of("../integration-tests/kotlin/src/test/kotlin/io/delayqueue/kotlin/GettingStartedExample.kt"));
        assertThat(DocumentationBlocks.in("kotlin")).isNotEmpty()
            .allSatisfy((block) -> assertThat(compiled).contains(block.code().strip().indent(4).strip()));
    }

    @Test
    void yamlCanBeBound() {
        // JournalMigrationTests runs the change set of Liquibase.
        List<Block> blocks = DocumentationBlocks.in("yaml")
            .stream()
            .filter((block) -> !block.code().startsWith("databaseChangeLog:"))
            .toList();
        assertThat(blocks).hasSizeGreaterThan(9).allSatisfy((block) -> {
            Map<String, Object> properties = new TreeMap<>();
            block.properties().forEach((name, value) -> properties.put((String) name, value));
            assertThat(properties).isNotEmpty();
            bind(properties);
            assertThat(knownToBoot()).containsAll(properties.keySet()
                .stream()
                .filter((name) -> !name.startsWith("delayqueue."))
                .filter(DocumentationExamplesTests::isHere)
                .toList());
        });
    }

    @Test
    void valuesWithinTheTextCanBeBound() {
        Map<String, String> settings = new TreeMap<>();
        DocumentationTests.pages()
            .forEach((page) -> SETTING.matcher(DocumentationTests.read(page))
                .results()
                .filter((setting) -> !setting.group().matches(".*(<[a-z]+>|\\.\\.\\.).*"))
                .forEach((setting) -> settings.put(setting.group(1), setting.group(2))));
        assertThat(settings).hasSizeGreaterThan(5).allSatisfy((name, value) -> bind(Map.of(name, value)));
    }

    private static void bind(Map<String, ?> properties) {
        Map<String, Object> own = properties.entrySet()
            .stream()
            .filter((property) -> property.getKey().startsWith("delayqueue.")
                    && ELSEWHERE.stream().noneMatch(property.getKey()::startsWith))
            .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
        new Binder(new MapConfigurationPropertySource(own)).bindOrCreate("delayqueue",
                Bindable.of(DelayQueueProperties.class), new NoUnboundElementsBindHandler(BindHandler.DEFAULT));
    }

    @Test
    void propertiesOfSpringBootExist() {
        assertThat(unknownToBoot(DocumentationExamplesTests::isHere)).isEmpty();
    }

    /** Returns properties of Spring Boot that a page names and this module lacks. */
    public static Set<String> unknownToBoot(Predicate<String> ofThisModule) {
        Set<String> named = new TreeSet<>();
        DocumentationTests.pages()
            .forEach((page) -> OF_BOOT.matcher(DocumentationTests.read(page))
                .results()
                .map((name) -> name.group(1))
                .filter(ofThisModule)
                .forEach(named::add));
        assertThat(named).isNotEmpty();
        Set<String> known = knownToBoot();
        named.removeIf((name) -> known.stream().anyMatch((property) -> (property + ".").startsWith(name + ".")));
        return named;
    }

    private static boolean isHere(String property) {
        return ELSEWHERE_OF_BOOT.stream().noneMatch(property::startsWith);
    }

    private static Set<String> knownToBoot() {
        Set<String> names = new TreeSet<>();
        try {
            for (URL file : Collections.list(DocumentationExamplesTests.class.getClassLoader()
                .getResources("META-INF/spring-configuration-metadata.json"))) {
                JsonMapper.shared()
                    .readTree(file.openStream())
                    .get("properties")
                    .forEach((property) -> names.add(property.get("name").asString()));
            }
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        return names;
    }

}
