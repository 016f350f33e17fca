package io.delayqueue.architecture;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks that the page about supported versions names those that the workflow tests.
 */
class SupportedVersionsTests {

    private static final Path ROOT = Path.of("..");

    private static final String WORKFLOW = DocumentationTests.read(ROOT.resolve(".github/workflows/ci.yml"));

    private static final String PAGE = DocumentationTests.read(ROOT.resolve("docs/support.md"));

    @Test
    void theVersionsOfSpringBootAreTested() {
        Set<String> tested = listed("version");
        tested.add(first("<spring-boot.version>([^<]+)<", DocumentationTests.read(ROOT.resolve("pom.xml"))));

        assertThat(named("Spring Boot")).isEqualTo(tested);
    }

    @Test
    void theVersionsOfJavaAreTested() {
        assertThat(named("Java")).isEqualTo(listed("java"));
    }

    /** Rows without an empty cell, so that no support is left open. */
    @Test
    void everyRowHasAnEnd() {
        List<String> rows = PAGE.lines().filter((line) -> line.startsWith("| ") && !line.startsWith("| |")).toList();

        assertThat(rows).hasSizeGreaterThan(6).noneMatch((row) -> row.matches(".*\\|\\s*\\|.*"));
    }

    /** Returns the versions of a matrix of the workflow. */
    private static Set<String> listed(String matrix) {
        return new TreeSet<>(List.of(first("(?m)^ +" + matrix + ": \\[([^\\]]+)\\]$", WORKFLOW).split(", ")));
    }

    /** Returns the versions with which each build is tested, according to the page. */
    private static Set<String> named(String row) {
        String versions = first("(?m)^\\| " + row + " \\|[^|]* each build is tested (?:with|on) ([^|]+) \\|", PAGE);
        return new TreeSet<>(List.of(versions.split(", | and ")));
    }

    private static String first(String pattern, String text) {
        return Pattern.compile(pattern).matcher(text).results().findFirst().orElseThrow().group(1);
    }

}
