package io.delayqueue.architecture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.config.YamlPropertiesFactoryBean;
import org.springframework.core.io.ByteArrayResource;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the documentation names is there: pages, scripts, keys, properties, guards and the
 * tests of guards; and its examples compile.
 */
class DocumentationTests {

    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    private static final Path GUARANTEES = ROOT.resolve("docs/guarantees.md");

    private static final Path SCRIPTS = Path.of("src/main/resources/io/delayqueue/redis");

    private static final Pattern LINK = Pattern.compile("]\\(([^)\\s]+)\\)");

    private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.*)$");

    private static final Pattern BLOCK = Pattern.compile("(?ms)^```(\\w+)\\n(.*?)^```$");

    private static final Pattern GUARD = Pattern.compile("`(\\w[\\w-]*\\.(?:java|lua))`: `([^`]+)`");

    private static final Pattern TEST = Pattern.compile("`(\\w+(?:Tests|Cases))(?:\\.(\\w+))?`");

    private static final Pattern SCRIPT = Pattern.compile("(?<![\\w-])[a-z-]+\\.lua");

    private static final Pattern KEY = Pattern.compile("<namespace>:\\{q}:([a-z]+)");

    private static final Pattern PROPERTY = Pattern.compile("(?<![\\w./])delayqueue(?:\\.(?:[a-z-]+|<name>))+");

    /** Of the diagnostic context, which look like properties. */
    private static final Set<String> LOG_KEYS = Set.of("delayqueue.queue", "delayqueue.id", "delayqueue.attempt");

    private static final String PRELUDE = """
            import io.delayqueue.*;
            import io.delayqueue.admin.*;
            import io.delayqueue.listener.poll.*;
            import io.delayqueue.autoconfigure.*;
            import io.delayqueue.listener.*;
            import io.delayqueue.template.DelayQueueTemplate;
            import jakarta.validation.Valid;
            import java.time.*;
            import java.util.*;
            import java.util.concurrent.CompletableFuture;
            import org.slf4j.MDC;
            import org.springframework.beans.factory.annotation.Qualifier;
            import org.springframework.context.annotation.Bean;
            import org.springframework.context.event.EventListener;
            import org.springframework.core.task.TaskDecorator;
            import org.springframework.data.redis.connection.*;
            import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
            import org.springframework.messaging.handler.annotation.*;
            import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
            import org.springframework.transaction.annotation.Transactional;

            class Example {

                record OrderTimeout(long orderId) {
                }

                DelayQueueTemplate delayQueue;

                %s
            }
            """;

    static Stream<Path> pages() throws IOException {
        try (Stream<Path> docs = Files.walk(ROOT.resolve("docs"))) {
            List<Path> pages = docs.filter((path) -> path.toString().endsWith(".md")).sorted().toList();
            return Stream.concat(Stream.of(ROOT.resolve("README.md")), pages.stream());
        }
    }

    @ParameterizedTest
    @MethodSource("pages")
    void linksLeadSomewhere(Path page) {
        List<String> broken = find(LINK, read(page)).map((link) -> link.group(1))
            .filter((link) -> !link.contains("://") && !leadsSomewhere(page, link))
            .toList();
        assertThat(broken).isEmpty();
    }

    private static boolean leadsSomewhere(Path page, String link) {
        String[] parts = link.split("#", 2);
        Path target = parts[0].isEmpty() ? page : page.resolveSibling(parts[0]).normalize();
        if (!Files.isRegularFile(target)) {
            return false;
        }
        return parts.length == 1 || find(HEADING, read(target)).anyMatch((heading) -> heading.group(1)
            .toLowerCase(Locale.ROOT)
            .replaceAll("[^\\w -]", "")
            .replace(' ', '-')
            .equals(parts[1]));
    }

    @ParameterizedTest
    @MethodSource("pages")
    void namesOnlyScriptsThatExist(Path page) {
        assertThat(find(SCRIPT, read(page)).map(MatchResult::group))
            .allSatisfy((script) -> assertThat(SCRIPTS.resolve(script)).exists());
    }

    @ParameterizedTest
    @MethodSource("pages")
    void namesOnlyPropertiesThatExist(Path page) {
        String text = read(page);
        Set<String> named = find(PROPERTY, text).map(MatchResult::group).collect(Collectors.toCollection(TreeSet::new));
        find(BLOCK, text).filter((block) -> block.group(1).equals("yaml"))
            .flatMap((block) -> propertiesOf(block.group(2)))
            .filter((name) -> name.startsWith("delayqueue"))
            .forEach(named::add);
        named.removeAll(LOG_KEYS);
        Set<String> known = knownProperties();
        assertThat(named.stream().map(DocumentationTests::ofAllListeners))
            .allSatisfy((name) -> assertThat(known).anyMatch((property) -> (property + ".").startsWith(name + ".")));
    }

    /** What can be set for a queue can be set for all listeners, partitions excepted. */
    private static String ofAllListeners(String property) {
        return property.endsWith(".partitions") ? "delayqueue.queues"
                : property.replaceFirst("^delayqueue\\.queues\\.[^.]+", "delayqueue.listener");
    }

    private static Stream<String> propertiesOf(String yaml) {
        YamlPropertiesFactoryBean factory = new YamlPropertiesFactoryBean();
        factory.setResources(new ByteArrayResource(yaml.getBytes(UTF_8)));
        Properties properties = factory.getObject();
        assertThat(properties).isNotNull();
        return properties.stringPropertyNames().stream();
    }

    private static Set<String> knownProperties() {
        Set<String> names = new TreeSet<>();
        JsonMapper mapper = JsonMapper.builder().build();
        for (String file : List.of("spring-configuration-metadata", "additional-spring-configuration-metadata")) {
            mapper.readTree(read(Path.of("target/classes/META-INF", file + ".json")))
                .get("properties")
                .forEach((property) -> names.add(property.get("name").asString()));
        }
        return names;
    }

    @Test
    void keysAreThoseOfThePrelude() {
        Set<String> kinds = first(Pattern.compile("(?m)^-- KEYS\\[\\d+] +(\\w+) +[A-Z]{4,}"),
                SCRIPTS.resolve("prelude.lua"));
        assertThat(first(KEY, ROOT.resolve("docs/how-it-works.md"))).isEqualTo(kinds);
    }

    @Test
    void everyScriptIsExplained() throws IOException {
        String page = read(ROOT.resolve("docs/how-it-works.md"));
        try (Stream<Path> scripts = Files.list(SCRIPTS)) {
            assertThat(scripts.map((script) -> script.getFileName().toString()))
                .allSatisfy((script) -> assertThat(page).contains("`" + script + "`"));
        }
    }

    @Test
    void everyPackageIsInTheTable() throws IOException {
        String page = read(ROOT.resolve("docs/README.md"));
        Path sources = Path.of("src/main/java");
        try (Stream<Path> files = Files.walk(sources)) {
            List<String> packages = files.filter((file) -> file.endsWith("package-info.java"))
                .map((file) -> sources.relativize(file.getParent()).toString().replace('/', '.'))
                .toList();
            assertThat(packages).hasSizeGreaterThan(5)
                .allSatisfy((name) -> assertThat(page).containsPattern("(?m)^\\| .*`" + name + "`"));
        }
    }

    @Test
    void guardsAreWhereThePageSays() {
        List<String> lost = find(GUARD, read(GUARANTEES))
            .filter((guard) -> !sourceOf(guard.group(1)).contains(guard.group(2)))
            .map(MatchResult::group)
            .toList();
        assertThat(lost).isEmpty();
    }

    @Test
    void testsOfGuardsExist() {
        List<String> lost = find(TEST, read(GUARANTEES)).filter((test) -> {
            String method = (test.group(2) != null) ? " void " + test.group(2) + "(" : "class";
            return !sourceOf(test.group(1) + ".java").contains(method);
        }).map(MatchResult::group).toList();
        assertThat(lost).isEmpty();
    }

    @Test
    void everyPromiseHasAGuard() {
        String page = read(GUARANTEES);
        for (int i = 1; i <= 12; i++) {
            assertThat(find(Pattern.compile("(?m)^\\| P" + i + " \\|.*`$"), page.replace(" |\n", "\n"))).isNotEmpty();
        }
    }

    @Test
    void examplesCompile(@TempDir Path classes) {
        List<JavaFileObject> sources = new ArrayList<>();
        examples("README.md").filter((example) -> example.startsWith("package"))
            .forEach((example) -> sources.add(source(sources.size(), example)));
        examples("docs/getting-started.md")
            .forEach((example) -> sources.add(source(sources.size(), PRELUDE.formatted(example))));
        assertThat(sources).hasSizeGreaterThan(10);
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        for (JavaFileObject source : sources) {
            DiagnosticCollector<JavaFileObject> problems = new DiagnosticCollector<>();
            compiler
                .getTask(null, null, problems, List.of("-proc:none", "-cp", classPath, "-d", classes.toString()), null,
                        List.of(source))
                .call();
            assertThat(problems.getDiagnostics()).isEmpty();
        }
    }

    private static Stream<String> examples(String page) {
        return find(BLOCK, read(ROOT.resolve(page))).filter((block) -> block.group(1).equals("java"))
            .map((block) -> block.group(2));
    }

    private static JavaFileObject source(int number, String code) {
        return new SimpleJavaFileObject(URI.create("memory:///" + number + ".java"), JavaFileObject.Kind.SOURCE) {

            @Override
            public boolean isNameCompatible(String simpleName, Kind kind) {
                return true;
            }

            @Override
            public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                return code;
            }

        };
    }

    /** The text of a source file of this module; empty if there is none of that name. */
    private static String sourceOf(String fileName) {
        try (Stream<Path> files = Files.walk(Path.of("src"))) {
            return files.filter((file) -> file.getFileName().toString().equals(fileName))
                .map(DocumentationTests::read)
                .collect(Collectors.joining());
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static Set<String> first(Pattern pattern, Path file) {
        return find(pattern, read(file)).map((found) -> found.group(1)).collect(Collectors.toCollection(TreeSet::new));
    }

    private static Stream<MatchResult> find(Pattern pattern, String text) {
        return pattern.matcher(text).results();
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

}
