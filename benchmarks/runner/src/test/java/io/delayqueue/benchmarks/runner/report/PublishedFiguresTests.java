package io.delayqueue.benchmarks.runner.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

import io.delayqueue.benchmarks.runner.measure.Measure;
import io.delayqueue.benchmarks.runner.measure.Measures;
import io.delayqueue.benchmarks.runner.process.Machine;
import io.delayqueue.benchmarks.runner.result.Cell;
import io.delayqueue.benchmarks.runner.result.Conditions;
import io.delayqueue.benchmarks.runner.result.Delivery;
import io.delayqueue.benchmarks.runner.result.Result;
import io.delayqueue.benchmarks.runner.result.ResultFiles;
import io.delayqueue.benchmarks.runner.result.Source;
import io.delayqueue.benchmarks.runner.result.Turn;
import io.delayqueue.benchmarks.runner.result.Weather;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * The published figures are those of the kept results. If this fails, run
 * {@code scripts/benchmark report}.
 */
class PublishedFiguresTests {

    private static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();

    private static final ResultFiles RESULTS = new ResultFiles(ROOT.resolve("benchmarks/results"));

    @ParameterizedTest
    @ValueSource(strings = { "performance.md", "internals/performance-details.md" })
    void aPageIsThatOfTheResults(String page) throws IOException {
        assertThat(Files.readString(ROOT.resolve("docs").resolve(page)))
            .isEqualTo(new Report(RESULTS, Measures.all()).pages().get(page));
    }

    @ParameterizedTest
    @ValueSource(strings = { "README.md", "docs/comparison.md" })
    void aTableIsThatOfTheResults(String page) throws IOException {
        assertThat(Files.readString(ROOT.resolve(page))).isEqualTo(new PublishedTables(RESULTS).pages(ROOT).get(page));
    }

    @Test
    void everyPlotOfAPageExists() {
        for (Measure measure : Measures.all()) {
            RESULTS.read(measure.name())
                .ifPresent((result) -> assertThat(Plots.of(result)).allSatisfy(
                        (plot) -> assertThat(ROOT.resolve("docs/performance").resolve(plot.fileName())).exists()));
        }
    }

    @Test
    void keptResultsNameACommitWithoutChanges() {
        for (Measure measure : Measures.all()) {
            RESULTS.read(measure.name())
                .ifPresent((result) -> assertThat(result.turns()).isNotEmpty()
                    .extracting(Turn::source)
                    .allMatch((source) -> !source.dirty() && source.commit().matches("[0-9a-f]{10}")));
        }
    }

    /** A full run in parts publishes at the end of each part. */
    @Test
    void whatARunPublishesDoesNotMakeTheNextPartDirty(@TempDir Path root) throws Exception {
        List<Path> published = Stream.of(new PublishedTables(RESULTS).pages(ROOT).keySet().stream().map(root::resolve),
                new Report(RESULTS, Measures.all()).pages()
                    .keySet()
                    .stream()
                    .map((page) -> root.resolve("docs").resolve(page)),
                Stream.of(root.resolve("docs/performance/memory-bytes.png"),
                        root.resolve("benchmarks/results/memory.json")))
            .flatMap(Function.identity())
            .toList();
        Path source = root.resolve("pom.xml");
        write(published, "before");
        write(List.of(source), "before");
        git(root, "init", "--quiet");
        git(root, "add", ".");
        git(root, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "-m", "a");

        write(published, "after");

        assertThat(Machine.isDirty(root)).isFalse();

        write(List.of(source), "after");

        assertThat(Machine.isDirty(root)).isTrue();
    }

    private static void write(List<Path> files, String text) throws IOException {
        for (Path file : files) {
            Files.createDirectories(file.getParent());
            Files.writeString(file, text);
        }
    }

    private static void git(Path root, String... words) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(Stream.concat(Stream.of("git"), Stream.of(words)).toList())
            .directory(root.toFile())
            .inheritIO()
            .start();
        assertThat(process.waitFor()).isZero();
    }

    @Test
    void aPlaceholderIsFilled() {
        List<Turn> turns = List.of(turn("delayqueue", 1, 100), turn("limit", 1, 200), turn("delayqueue", 2, 300),
                turn("limit", 2, 400));
        Template template = new Template((name) -> name.equals("drain")
                ? Optional.of(new Result(name, new Conditions("full", 2, "7", "PATH", "17", List.of(), "m", 1), turns))
                : Optional.empty());

        assertThat(template.fill("{drain|100 B|delayqueue|PER_SECOND} of {drain|100 B|limit|PER_SECOND|range}"))
            .isEqualTo("200 of 300 (200–400)\n");
        assertThat(template.fill("{drain|100 B|delayqueue/limit|PER_SECOND}")).isEqualTo("0.63 (0.50–0.75)\n");
        assertThat(template.fill("{drain|100 B|delayqueue|early} %, {drain}"))
            .isEqualTo("20 %, c0ffee: 2 rounds, 10 s\n");
        assertThat(template.fill("{drain|1 KiB|delayqueue|P99}, {send|a|b|P99}")).isEqualTo("–, –\n");
        assertThatIllegalArgumentException().isThrownBy(() -> template.fill("{drain|100 B|delayqueue|NONE}"));
    }

    @Test
    void aRowWithoutAResultIsLeftOut() {
        Template template = new Template((name) -> Optional.empty());

        assertThat(template.fill("text\n| {drain|100 B|delayqueue|P99} | {drain} |\n")).isEqualTo("text\n");
        assertThat(template.fill("| a | b |\n| --- | --- |\n| {drain|100 B|delayqueue|P99} | {drain} |\n")).isEmpty();
    }

    private static Turn turn(String contender, int round, double perSecond) {
        return new Turn(contender, round, new Source("c0ffee", false, "", "", ""), "2026-01-01T00:00:00Z", 1,
                List.of(new Cell(contender, "100 B", 100, round, Map.of("PER_SECOND", perSecond, "SECONDS", 10.0),
                        new Delivery(10, 0, 0, 0, 2, 0, 5), new Weather(0, 0.0, 0, 0, "2026-01-01T00:00:00Z"),
                        List.of())));
    }

}
