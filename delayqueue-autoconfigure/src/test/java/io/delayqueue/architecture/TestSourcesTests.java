package io.delayqueue.architecture;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Checks the sources of the tests of all modules, and of the benchmarks. */
class TestSourcesTests {

    private static final int FILES_IN_A_FOLDER = 25;

    private static final Pattern SLEEP = Pattern
        .compile("\\bThread[.](sleep|yield|onSpinWait)\\b|[.]sleep\\(|\\bLockSupport[.]park|\\bPause[.]millis\\b");

    private static final Pattern SHORT_WAIT = Pattern.compile("[.](get|await|poll|tryAcquire)\\(([1-9]|[12]\\d), "
            + "(TimeUnit[.])?SECONDS\\)|\\batMost\\(Duration[.]ofSeconds\\(([1-9]|[12]\\d)\\)\\)");

    private static final Pattern UNLIMITED_WAIT = Pattern.compile("Awaitility[.]await(?!\\(\\)\\s*[.]atMost\\()");

    private static final Pattern MODULE = Pattern.compile("<module>(.+)</module>");

    private static final String REASON = "// Real time: ";

    @Test
    void everySleepGivesItsReason() throws IOException {
        assertThat(unexplained(SLEEP)).as("lines without '%s...' before them", REASON).isEmpty();
    }

    /** Build machines stall for seconds. */
    @Test
    void everyShortLimitGivesItsReason() throws IOException {
        assertThat(unexplained(SHORT_WAIT)).as("limits of less than half a minute without '%s...' before them", REASON)
            .isEmpty();
    }

    /** The fixtures, which other modules have, replace the limit of ten seconds. */
    @Test
    void everyWaitInAModuleWithoutTheFixturesHasALimit() throws IOException {
        List<Path> files = new ArrayList<>();
        for (Path module : modules()) {
            if (!Files.readString(module.resolve("pom.xml")).contains("test-jar")) {
                files.addAll(files(module.resolve("src/test"), ".java", ".kt"));
            }
        }
        List<Path> unlimited = new ArrayList<>();
        for (Path file : files) {
            if (UNLIMITED_WAIT.matcher(Files.readString(file)).find()) {
                unlimited.add(file);
            }
        }
        assertThat(unlimited).as("files that do not use Awaitility.await().atMost(...)").isEmpty();
    }

    private static List<String> unexplained(Pattern searched) throws IOException {
        List<String> unexplained = new ArrayList<>();
        for (Path file : sources()) {
            List<String> lines = Files.readAllLines(file);
            for (int i = 0; i < lines.size(); i++) {
                if (searched.matcher(lines.get(i)).find() && !commentBefore(lines, i).startsWith(REASON)) {
                    unexplained.add(file + ":" + (i + 1));
                }
            }
        }
        return unexplained;
    }

    @Test
    void foldersAreSmall() throws IOException {
        assertThat(sources()).hasSizeGreaterThan(300);
        assertThat(sources().stream().collect(Collectors.groupingBy(Path::getParent, Collectors.counting())))
            .allSatisfy((folder, files) -> assertThat(files).isLessThanOrEqualTo(FILES_IN_A_FOLDER));
    }

    @Test
    void noTwoTypesOfTestsHaveOneName() throws IOException {
        assertThat(sources()).filteredOn((file) -> file.toString().contains("/src/test/"))
            .extracting((file) -> file.getFileName().toString())
            .filteredOn((name) -> !name.equals("package-info.java"))
            .doesNotHaveDuplicates();
    }

    private static String commentBefore(List<String> lines, int index) {
        int first = index;
        while (first > 0 && lines.get(first - 1).strip().startsWith("//")) {
            first--;
        }
        return lines.get(first).strip();
    }

    /** Returns the sources, except this one, which contains the searched text. */
    private static List<Path> sources() throws IOException {
        List<Path> roots = new ArrayList<>();
        for (Path module : modules()) {
            roots.add(module.resolve("src/test/java"));
            if (module.startsWith("../benchmarks")) {
                roots.add(module.resolve("src/main/java"));
            }
        }
        List<Path> sources = new ArrayList<>();
        for (Path root : roots) {
            sources.addAll(files(root, ".java"));
        }
        sources.removeIf((file) -> file.endsWith("TestSourcesTests.java"));
        return sources;
    }

    private static List<Path> files(Path folder, String... ends) throws IOException {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter((file) -> Stream.of(ends).anyMatch(file.toString()::endsWith)).toList();
        }
    }

    private static List<Path> modules() throws IOException {
        String modules = Files.readString(Path.of("../pom.xml"))
                + Files.readString(Path.of("../benchmarks/pom.xml")).replace("<module>", "<module>benchmarks/");
        return MODULE.matcher(modules).results().map((module) -> Path.of("..", module.group(1))).toList();
    }

}
