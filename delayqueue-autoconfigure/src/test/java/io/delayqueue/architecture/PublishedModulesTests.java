package io.delayqueue.architecture;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks that a module that is added to the build is also published, or says that it is
 * not.
 */
class PublishedModulesTests {

    private static final Path ROOT = Path.of("..");

    private static final Pattern MODULE = Pattern.compile("<module>(delayqueue-[\\w-]+)</module>");

    private static final Pattern MANAGED = Pattern
        .compile("<artifactId>(delayqueue-[\\w-]+)</artifactId>\\s*<version>");

    @Test
    void theBomManagesAllJars() throws IOException {
        assertThat(all(MANAGED, read("delayqueue-bom/pom.xml")))
            .filteredOn((artifact) -> !artifact.equals("delayqueue-parent"))
            .containsExactlyInAnyOrderElementsOf(jars());
    }

    @Test
    void eachJarHasAModuleName() throws IOException {
        for (String jar : jars()) {
            assertThat(read(jar + "/pom.xml")).contains("<module.name>io.delayqueue");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = { "scripts/check-release", ".github/workflows/release.yml", "docs/internals/releasing.md" })
    void releasesHaveAllModules(String file) throws IOException {
        assertThat(read(file)).contains(jars()).contains("delayqueue-bom");
    }

    /** The starter brings delayqueue-autoconfigure. */
    @Test
    void theApiOfAllModulesIsCompared() throws IOException {
        assertThat(read("scripts/check-api"))
            .contains(jars().stream().filter((jar) -> !jar.equals("delayqueue-autoconfigure")).toList());
        assertThat(read(".github/workflows/ci.yml")).contains("run: scripts/check-api");
    }

    @Test
    void theSiteHasTheJavadocOfAllModules() throws IOException {
        List<String> withClasses = jars().stream()
            .filter((jar) -> Files.isDirectory(ROOT.resolve(jar).resolve("src/main/java")))
            .toList();
        assertThat(all(Pattern.compile("for module in (.*);"), read("scripts/site")))
            .singleElement(InstanceOfAssertFactories.STRING)
            .satisfies((modules) -> assertThat(modules.split(" ")).containsExactlyInAnyOrderElementsOf(withClasses));
        assertThat(all(Pattern.compile("<a href=\"([\\w-]+)/index.html\">"), read("site/javadoc.html")))
            .containsExactlyInAnyOrderElementsOf(withClasses);
    }

    private static List<String> jars() throws IOException {
        List<String> jars = all(MODULE, read("pom.xml")).stream()
            .filter((module) -> !module.equals("delayqueue-bom"))
            .toList();
        assertThat(jars).contains("delayqueue-autoconfigure", "delayqueue-starter");
        return jars;
    }

    private static List<String> all(Pattern pattern, String text) {
        return pattern.matcher(text).results().map((match) -> match.group(1)).toList();
    }

    private static String read(String file) throws IOException {
        return Files.readString(ROOT.resolve(file));
    }

}
