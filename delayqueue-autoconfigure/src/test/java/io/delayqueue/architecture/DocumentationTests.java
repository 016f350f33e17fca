package io.delayqueue.architecture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.delayqueue.fixtures.application.DocumentationBlocks;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks that the pages, scripts, keys, properties, guards and tests that the
 * documentation names exist.
 */
public class DocumentationTests {

    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    private static final Path GUARANTEES = ROOT.resolve("docs/guarantees.md");

    /** The modules whose sources the pages describe. */
    private static final List<Path> MODULES = List.of(ROOT.resolve("delayqueue-autoconfigure"),
            ROOT.resolve("delayqueue-web"), ROOT.resolve("delayqueue-migrate"));

    private static final Path SCRIPTS = Path.of("src/main/resources/io/delayqueue/redis");

    private static final Pattern LINK = Pattern.compile("]\\(([^)\\s]+)\\)");

    private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.*)$");

    /** A row of the table of guards: promise, what it guards, guard, tests. */
    private static final Pattern GUARD_ROW = Pattern.compile("(?m)^\\| P\\d+[^|]*\\| [^|]+ \\| ([^|]+) \\| [^|]+ \\|$");

    /** A class, a method of it, a script, or a function of it. */
    private static final Pattern GUARD = Pattern
        .compile("`([A-Z]\\w+)(?:\\.(\\w+))?`|`([a-z-]+\\.lua)`(?:: `(\\w+)`)?");

    /** The declaration of a method: a type, and then its name. */
    private static final String METHOD = "(?m)^ +(?!return |new |throw |else )[\\w<>\\[\\],.?@ ]+ %s\\(";

    private static final Pattern TEST = Pattern.compile("`(\\w+(?:Tests|Cases))(?:\\.(\\w+))?`");

    private static final Pattern SCRIPT = Pattern.compile("(?<![\\w-])[a-z-]+\\.lua");

    private static final Pattern KEY = Pattern.compile("<namespace>:\\{q}:([a-z:-]+)");

    private static final Pattern PROPERTY = Pattern
        .compile("(?<![\\w./])delayqueue(?:\\.(?:[a-z-]+|<name>|<topic>|<queue>))+");

    /**
     * Keys of the diagnostic context and a type of audit events, which have the form of
     * properties.
     */
    private static final Set<String> OTHER_NAMES = Set.of("delayqueue.queue", "delayqueue.id", "delayqueue.attempt",
            "delayqueue.redrive");

    public static Stream<Path> pages() {
        return DocumentationBlocks.pages().stream();
    }

    /** Returns all pages but the changelog, which has names of earlier versions too. */
    public static Stream<Path> pagesOfThisVersion() {
        return pages().filter((page) -> !page.endsWith("CHANGELOG.md"));
    }

    @ParameterizedTest
    @CsvSource({ "README.md, 700", "docs/how-it-works.md, 3500" })
    void pagesAreShort(String page, int words) {
        assertThat(read(ROOT.resolve(page)).split("\\s+")).hasSizeLessThanOrEqualTo(words);
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
    @MethodSource("pagesOfThisVersion")
    void namesOnlyPropertiesThatExist(Path page) {
        Set<String> known = knownProperties();
        assertThat(properties(page)
            .filter((name) -> !name.startsWith("delayqueue.web") && !name.startsWith("delayqueue.test")))
            .allSatisfy((name) -> assertThat(known).anyMatch((property) -> (property + ".").startsWith(name + ".")));
    }

    /** Returns the properties that a page names, in the form that all queues share. */
    public static Stream<String> properties(Path page) {
        String text = read(page);
        Set<String> named = find(PROPERTY, text).map(MatchResult::group).collect(Collectors.toCollection(TreeSet::new));
        DocumentationBlocks.in("yaml")
            .stream()
            .filter((block) -> ROOT.resolve(block.page()).equals(page))
            .flatMap((block) -> block.properties().stringPropertyNames().stream())
            .filter((name) -> name.startsWith("delayqueue"))
            .forEach(named::add);
        named.removeAll(OTHER_NAMES);
        return named.stream().map(DocumentationTests::ofAllListeners);
    }

    /**
     * Maps a property of one queue to the property of all listeners. Only the number of
     * partitions and the journal mode exist for a queue alone.
     */
    private static String ofAllListeners(String property) {
        return property.endsWith(".partitions") || property.endsWith(".journal-mode") ? "delayqueue.queues"
                : property.replaceFirst("^delayqueue\\.queues\\.[^.]+", "delayqueue.listener")
                    .replaceFirst("^delayqueue\\.forward\\..*", "delayqueue.forward")
                    .replaceFirst("^delayqueue\\.intake\\.(kafka|rabbit)\\..*", "delayqueue.intake.$1");
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
        Set<String> kinds = first(Pattern.compile("(?m)^-- KEYS\\[\\d+] +([\\w:-]+) +[A-Z]{4,}"),
                SCRIPTS.resolve("prelude.lua"));
        assertThat(first(KEY, ROOT.resolve("docs/how-it-works.md"))).isEqualTo(kinds);
    }

    @Test
    void everyScriptIsExplained() throws IOException {
        String page = read(ROOT.resolve("docs/how-it-works.md")) + read(ROOT.resolve("docs/internals/storage.md"));
        try (Stream<Path> scripts = Files.list(SCRIPTS)) {
            assertThat(scripts.map((script) -> script.getFileName().toString()))
                .allSatisfy((script) -> assertThat(page).contains("`" + script + "`"));
        }
    }

    @Test
    void everyPackageIsInTheTable() throws IOException {
        String page = read(ROOT.resolve("docs/README.md"));
        for (Path module : MODULES) {
            Path sources = module.resolve("src/main/java");
            try (Stream<Path> files = Files.walk(sources)) {
                List<String> packages = files.filter((file) -> file.endsWith("package-info.java"))
                    .map((file) -> sources.relativize(file.getParent()).toString().replace('/', '.'))
                    .toList();
                assertThat(packages).hasSizeGreaterThan(3)
                    .allSatisfy((name) -> assertThat(page).containsPattern("(?m)^\\| .*`" + name + "`"));
            }
        }
    }

    @Test
    void guardsExist() {
        List<String> guards = find(GUARD_ROW, read(GUARANTEES)).flatMap((row) -> Stream.of(row.group(1).split("<br>")))
            .toList();
        assertThat(guards).hasSizeGreaterThan(60);
        assertThat(guards.stream().filter((guard) -> !exists(guard))).isEmpty();
    }

    private static boolean exists(String guard) {
        MatchResult names = find(GUARD, guard).findFirst().orElseThrow(() -> new AssertionError(guard));
        assertThat(names.group()).isEqualTo(guard);
        return (names.group(3) != null) ? declares(names.group(3), "function %s\\(", names.group(4))
                : declares(names.group(1) + ".java", METHOD, names.group(2));
    }

    private static boolean declares(String file, String declaration, @Nullable String name) {
        String source = sourceOf(file);
        return !source.isEmpty()
                && (name == null || find(Pattern.compile(declaration.formatted(name)), source).findAny().isPresent());
    }

    @Test
    void testsOfGuardsExist() {
        List<String> lost = find(TEST, read(GUARANTEES))
            .filter((test) -> !declares(test.group(1) + ".java", METHOD, test.group(2)))
            .map(MatchResult::group)
            .toList();
        assertThat(lost).isEmpty();
    }

    @Test
    void everyPromiseHasAGuard() {
        String page = read(GUARANTEES);
        for (int i = 1; i <= 12; i++) {
            assertThat(find(Pattern.compile("(?m)^\\| P" + i + " \\|.*`$"), page.replace(" |\n", "\n"))).isNotEmpty();
        }
    }

    /** Returns the text of a source file; empty if there is none of that name. */
    private static String sourceOf(String fileName) {
        return MODULES.stream().map((module) -> sourceOf(module, fileName)).collect(Collectors.joining());
    }

    private static String sourceOf(Path module, String fileName) {
        try (Stream<Path> files = Files.walk(module.resolve("src"))) {
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

    static String read(Path file) {
        try {
            return Files.readString(file);
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

}
