package io.delayqueue.architecture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.delayqueue.fixtures.application.DocumentationBlocks;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks that few sentences of a package, a page, its tables, or a text for operators and
 * callers have the turns of phrase that the rules of CONTRIBUTING exclude: 2 % at most.
 */
class LanguageTests {

    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    private static final int SENTENCES_FOR_EACH_EXCLUDED = 50;

    private static final int SHORTEST_SENTENCE = 4;

    private static final List<Pattern> EXCLUDED = Stream.of(
            // clauses without a noun as the subject
            "\\b[Ww]ho(?:ever|soever)\\b",
            "(?:^|[,;:] |\\b(?:for|to|by|of|with|than|and|or|but|from) )[Ww]ho\\b(?! (?:is|are|was) (?:it|this))",
            "^(?:What|Whatever|Whom|Who|Whose|Of|From)\\b(?!.*\\?$)",
            "\\b(?:of|for|to|by|with|from|than|as|and) what\\b",
            // words with a plainer one
            "\\b(?:told|tells?|telling)\\b", "\\bso (?:long|many|often|much|old|seldom|far)\\b(?! as\\b)",
            "\\banew\\b|\\ball the same\\b|\\bfor ever\\b|\\bnobody\\b|\\bsomebody\\b|\\banybody\\b|\\beverybody\\b",
            "\\bby then\\b|\\bdoes so\\b|\\bsuch an? one\\b|\\bgoes (?:by|on)\\b|\\bany more\\b|\\bunless set\\b",
            "\\b(?:has|have|had) (?:it|them|one|others|the \\w+|a \\w+) \\w+ed\\b|\\blets? (?:it|them|others|itself)\\b",
            "\\b(?:hurry|hurries|mends?|mended|glance|lookout|bells?|herald|hungry)\\b",
            "\\b(?:a|the|next|last|each|this) looks?\\b")
        .map(Pattern::compile)
        .toList();

    private static final Path API = Path.of("delayqueue-web/src/main/resources/io/delayqueue/web/api/openapi.json");

    /** The texts of a file of JSON or YAML that a reader sees. */
    private static final Pattern TEXT = Pattern
        .compile("\\b(?:title|description|summary)\"?: *\"((?:[^\"\\\\]|\\\\.)*)\"");

    /** The borders of the cells of a table. */
    private static final Pattern BORDER = Pattern.compile("(?<!\\\\)\\|");

    private static final Pattern JAVADOC = Pattern.compile("(?sm)^\\s*/\\*\\*(.*?)\\*/");

    private static final Pattern JAVA_COMMENT = Pattern.compile("(?m)(?:^\\s*//.*\\n)+");

    private static final Pattern LUA_COMMENT = Pattern.compile("(?m)(?:^\\s*--.*\\n)+");

    @Test
    void sourcesArePlain() throws IOException {
        Map<String, List<String>> byPackage = new TreeMap<>();
        try (Stream<Path> modules = Files.list(ROOT)) {
            for (Path sources : modules.map((module) -> module.resolve("src/main"))
                .filter(Files::isDirectory)
                .toList()) {
                try (Stream<Path> files = Files.walk(sources)) {
                    files.filter((file) -> file.toString().matches(".*\\.(?:java|lua)"))
                        .forEach((file) -> byPackage
                            .computeIfAbsent(ROOT.relativize(file.getParent()).toString(), (key) -> new ArrayList<>())
                            .addAll(sentences(comments(file))));
                }
            }
        }
        assertThat(byPackage.size()).isGreaterThan(30);
        assertThat(byPackage.entrySet()).flatExtracting((entry) -> excluded(entry.getKey(), entry.getValue()))
            .isEmpty();
    }

    @Test
    void pagesArePlain() {
        List<Path> pages = DocumentationBlocks.pages();
        assertThat(pages.size()).isGreaterThan(40);
        assertThat(pages)
            .flatExtracting((page) -> excluded(page.getFileName().toString(), sentences(paragraphs(read(page)))))
            .isEmpty();
    }

    /** A table of CONTRIBUTING quotes sentences that are not plain. */
    @Test
    void tablesArePlain() {
        assertThat(DocumentationBlocks.pages()).filteredOn((page) -> !page.endsWith("CONTRIBUTING.md"))
            .flatExtracting((page) -> excluded(page.getFileName().toString(), sentences(cells(read(page)))))
            .isEmpty();
    }

    @Test
    void textsOfTheApiTheBoardAndTheAlertsArePlain() {
        assertThat(List.of(API, Path.of("docs/grafana/delayqueue.json"), Path.of("docs/alerts.yml")))
            .allSatisfy((file) -> {
                List<String> sentences = sentences(texts(read(ROOT.resolve(file))));
                assertThat(sentences).hasSizeGreaterThan(15);
                assertThat(excluded(file.toString(), sentences)).isEmpty();
            });
    }

    /** Returns the excluded sentences of a package or a page that has too many. */
    private static List<String> excluded(String name, List<String> sentences) {
        List<String> excluded = sentences.stream()
            .filter((sentence) -> EXCLUDED.stream().anyMatch((turn) -> turn.matcher(sentence).find()))
            .map((sentence) -> name + ": " + sentence)
            .toList();
        return (excluded.size() <= Math.max(1, sentences.size() / SENTENCES_FOR_EACH_EXCLUDED)) ? List.of() : excluded;
    }

    private static List<String> comments(Path file) {
        String text = read(file);
        if (file.toString().endsWith(".lua")) {
            return LUA_COMMENT.matcher(text)
                .results()
                .map((comment) -> comment.group().replaceAll("(?m)^\\s*--", ""))
                .toList();
        }
        return Stream
            .concat(JAVADOC.matcher(text).results().map((comment) -> comment.group(1).replaceAll("(?m)^\\s*\\*", "")),
                    JAVA_COMMENT.matcher(text)
                        .results()
                        .map(MatchResult::group)
                        .map((comment) -> comment.replaceAll("(?m)^\\s*//", "")))
            .toList();
    }

    private static List<String> paragraphs(String page) {
        String prose = page.replaceAll("(?s)```.*?```", "").replaceAll("(?m)^\\|.*$", "");
        return List.of(prose.split("\\n\\s*\\n"));
    }

    private static List<String> cells(String page) {
        return page.replaceAll("(?s)```.*?```", "")
            .lines()
            .filter((line) -> line.startsWith("|"))
            .flatMap(BORDER::splitAsStream)
            .map(String::strip)
            .toList();
    }

    private static List<String> texts(String file) {
        return TEXT.matcher(file).results().map((text) -> text.group(1)).toList();
    }

    /** Returns the sentences of some texts, without code. */
    private static List<String> sentences(List<String> texts) {
        return texts.stream()
            .map((text) -> text.replaceAll("\\{@\\w+ ([^}]*)}", "$1")
                .replaceAll("(?s)<pre[^>]*>.*?</pre>", " ")
                .replaceAll("<[^>]+>|`[^`]*`", " ")
                .replaceAll("\\s+", " "))
            .flatMap((text) -> Stream.of(text.split("(?<=[.:;!?])\\s+|@param \\w+|@return|@throws \\w+")))
            .map(String::strip)
            .filter((sentence) -> sentence.split(" ").length >= SHORTEST_SENTENCE)
            .collect(Collectors.toList());
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
