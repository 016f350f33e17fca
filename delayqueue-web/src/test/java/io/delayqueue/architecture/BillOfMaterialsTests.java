package io.delayqueue.architecture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks that the libraries inside the jar are in its bill of materials, which the
 * dependency plugin alone would not put there: {@code -Psbom} adds what
 * {@code bundled.json} lists.
 */
class BillOfMaterialsTests {

    private static final Path LIBRARIES = Path.of("target/classes/io/delayqueue/web/dashboard/static/lib");

    private static final Pattern UNPACKED = Pattern
        .compile("<artifactId>([^<]+)</artifactId>\\s*<version>\\$\\{([^}]+)}</version>");

    /** How a bundler marks the parts of a file that come from elsewhere. */
    private static final Pattern BANNER = Pattern.compile("/\\*!\\s*\\*?\\s*(\\S+) v(\\d+\\.\\d+\\.\\d+)");

    @Test
    void listsTheLibrariesThatTheBuildUnpacks() {
        String execution = read(Path.of("pom.xml")).split("<id>unpack-dashboard-libraries</id>")[1]
            .split("</execution>")[0];
        List<MatchResult> unpacked = UNPACKED.matcher(execution).results().toList();

        assertThat(unpacked).hasSize(execution.split("<artifactItem>").length - 1);
        assertThat(listed())
            .containsAll(unpacked.stream().map((item) -> item.group(1) + " " + property(item.group(2))).toList());
    }

    @Test
    void listsTheLibrariesThatTheFilesContain() {
        Set<String> contained = new TreeSet<>();
        for (Path file : files()) {
            BANNER.matcher(read(file))
                .results()
                .forEach((banner) -> contained.add(banner.group(1).toLowerCase() + " " + banner.group(2)));
        }

        assertThat(contained).hasSizeGreaterThanOrEqualTo(2);
        assertThat(listed()).containsAll(contained);
    }

    @Test
    void namesPackageVersionAndLicenceOfEach() {
        for (JsonNode component : bundled()) {
            String group = component.path("group").asString("");
            String name = component.path("name").asString();
            String version = component.path("version").asString();
            assertThat(component.path("purl").asString()).isEqualTo(
                    "pkg:npm/%s%s@%s".formatted(group.isEmpty() ? "" : group.replace("@", "%40") + "/", name, version));
            assertThat(component.path("licenses").path(0).path("license").path("id").asString("")).isNotEmpty();
        }
    }

    @Test
    void releasesAreCheckedForEach() {
        String check = read(Path.of("../scripts/check-release")).split("for library in ")[1].split(";")[0];

        assertThat(check.split(" ")).containsExactlyInAnyOrderElementsOf(bundled().valueStream()
            .map((component) -> component.path("purl").asString().replaceFirst("pkg:npm/(.*)@.*", "$1"))
            .toList());
    }

    private static Set<String> listed() {
        return bundled().valueStream()
            .map((component) -> (component.has("group") ? component.path("group").asString() + "/" : "")
                    + component.path("name").asString() + " " + component.path("version").asString())
            .collect(Collectors.toCollection(TreeSet::new));
    }

    private static JsonNode bundled() {
        String text = Pattern.compile("\\$\\{([^}]+)}")
            .matcher(read(Path.of("src/main/sbom/bundled.json")))
            .replaceAll((reference) -> property(reference.group(1)));
        return JsonMapper.builder().build().readTree(text);
    }

    private static String property(String name) {
        return read(Path.of("../pom.xml")).split("<%s>".formatted(name))[1].split("</")[0];
    }

    private static List<Path> files() {
        try (Stream<Path> files = Files.walk(LIBRARIES)) {
            return files.filter((file) -> file.toString().endsWith(".js")).toList();
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
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
