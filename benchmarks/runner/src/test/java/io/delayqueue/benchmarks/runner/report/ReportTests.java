package io.delayqueue.benchmarks.runner.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.delayqueue.benchmarks.runner.measure.Measures;
import io.delayqueue.benchmarks.runner.result.Cell;
import io.delayqueue.benchmarks.runner.result.Conditions;
import io.delayqueue.benchmarks.runner.result.Delivery;
import io.delayqueue.benchmarks.runner.result.Figure;
import io.delayqueue.benchmarks.runner.result.Result;
import io.delayqueue.benchmarks.runner.result.ResultFiles;
import io.delayqueue.benchmarks.runner.result.Source;
import io.delayqueue.benchmarks.runner.result.Turn;
import io.delayqueue.benchmarks.runner.result.Weather;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Each figure is shown with its commit, its rounds, the length of its cells and range.
 */
class ReportTests {

    private static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();

    private static final Weather QUIET = new Weather(0, 0.0, 0, 1, "2026-01-01T00:00:00Z");

    @Test
    void aRowNamesTheLengthOfItsCellsAndTheRange(@TempDir Path directory) throws IOException {
        String page = page(directory, cell(1, Map.of("PER_SECOND", 100.0, "SECONDS", 4.0), 50),
                cell(2, Map.of("PER_SECOND", 200.0, "SECONDS", 5.0), 50));

        assertThat(page).contains("full mode, 2 rounds, 8 s, commit c0ffee1234, CRC delayqueue 0badcafe.",
                "| Scenario | Contender | cell s | per second | Delivery | Steal | Other | Load |",
                "| 100 B | delayqueue | 4–5 | 150 (100–200) | exact | 0 % | 0 % | 1 |");
    }

    @Test
    void theLengthIsReckonedWhereAnEarlierResultHasARateAlone(@TempDir Path directory) throws IOException {
        assertThat(page(directory, cell(1, Map.of("PER_SECOND", 100.0), 250)))
            .contains("| 100 B | delayqueue | 2.50 | 100 | exact | 0 % | 0 % | 1 |");
    }

    @Test
    void theLengthIsLeftOutWhereItIsNotKnown(@TempDir Path directory) throws IOException {
        assertThat(page(directory, cell(1, Map.of("REDIS_MICROS", 3.0), null)))
            .contains("| Scenario | Contender | Redis µs/msg | Delivery |");
    }

    @Test
    void aGoalNamesCommitRoundsAndLength(@TempDir Path directory) throws IOException {
        String page = page(directory, cell(1, Map.of("REDIS_MICROS", 5.0, "SECONDS", 4.0), 50),
                cell(2, Map.of("REDIS_MICROS", 6.0, "SECONDS", 4.5), 50));

        assertThat(page).contains("| Measure | Goal | Measured | | Commit | Rounds | Cell s |",
                "| drain | 100 B: Redis µs/msg ≤ 10 | 5.50 (5–6) in 2 of 5 quiet rounds | not measured | c0ffee1234 | 2 | 4–4.50 |",
                "| herd | 0 missing |  | not measured |  | |  |");
    }

    @Test
    void aGoalOfAnotherContenderNamesItsRoundsAndLength(@TempDir Path directory) throws IOException {
        ResultFiles files = new ResultFiles(directory.resolve("results"));
        Cell cell = new Cell("delayqueue-outbox", "H2, 4/s", 1, 1, Map.of("P50", 4.0, "SECONDS", 9.0), null, QUIET,
                List.of());
        files.write(new Result("journal", new Conditions("full", 1, "7.0.15", "PATH", "17", List.of(), "m", 1),
                List.of(turn("delayqueue-outbox", 9, cell))));

        assertThat(page(files, directory)).contains("4 in 1 of 5 quiet rounds | not measured | c0ffee1234 | 1 | 9 |");
    }

    @Test
    void theDifferenceOfTheClocksIsTheGreatestOfAllMeasures(@TempDir Path directory) throws IOException {
        ResultFiles files = new ResultFiles(directory.resolve("results"));
        for (Map.Entry<String, Long> offset : Map.of("drain", 3L, "idle", 7L).entrySet()) {
            files.write(new Result(offset.getKey(),
                    new Conditions("full", 1, "7.0.15", "PATH", "17", List.of(), "m", offset.getValue()),
                    List.of(turn("delayqueue", 9, cell(1, Map.of("SECONDS", 4.0), null)))));
        }

        assertThat(page(files, directory)).contains("differ by at most 7 µs");
    }

    @Test
    void theOverviewHasTheMissedGoalsOnly(@TempDir Path directory) throws IOException {
        page(directory, cells(11.0));

        assertThat(Files.readString(directory.resolve("docs/performance.md"))).contains(
                "#draining-a-backlog) | 0 | 1 | 8 |",
                "| drain | 100 B: Redis µs/msg ≤ 10 | 11 (11–11) | **not met** | c0ffee1234 | 5 |");
        page(directory, cells(9.0));
        assertThat(Files.readString(directory.resolve("docs/performance.md")))
            .contains("#draining-a-backlog) | 1 | 0 | 8 |")
            .doesNotContain("| drain | 100 B: Redis µs/msg ≤ 10 |");
    }

    @Test
    void theOverviewStaysShort() throws IOException {
        assertThat(Files.readString(ROOT.resolve("docs/performance.md")).split("\\s+")).hasSizeLessThanOrEqualTo(2000);
    }

    private static Cell[] cells(double redisMicros) {
        return IntStream.rangeClosed(1, 5)
            .mapToObj((round) -> cell(round, Map.of("REDIS_MICROS", redisMicros), 50))
            .toArray(Cell[]::new);
    }

    private static Cell cell(int round, Map<String, Double> figures, @Nullable Integer messages) {
        assertThat(figures.keySet()).allSatisfy((name) -> assertThat(Figure.valueOf(name)).isNotNull());
        return new Cell("delayqueue", "100 B", 100, round, figures,
                (messages != null) ? new Delivery(messages, 0, 0, 0, 0, 0, 0) : null, QUIET, List.of());
    }

    private static Turn turn(String contender, long seconds, Cell cell) {
        return new Turn(contender, cell.round(), new Source("c0ffee1234", false, "0badcafe", "", ""),
                "2026-01-01T00:00:00Z", seconds, List.of(cell));
    }

    private static String page(Path directory, Cell... cells) throws IOException {
        ResultFiles files = new ResultFiles(directory.resolve("results"));
        List<Turn> turns = Stream.of(cells).map((cell) -> turn("delayqueue", 9 / cells.length, cell)).toList();
        files.write(new Result("drain", new Conditions("full", cells.length, "7.0.15", "PATH", "17", List.of(), "m", 1),
                turns));
        return page(files, directory);
    }

    private static String page(ResultFiles files, Path directory) throws IOException {
        Path docs = directory.resolve("docs");
        return Files.readString(new Report(files, Measures.all()).write(docs))
                + Files.readString(docs.resolve("internals/performance-details.md"));
    }

}
