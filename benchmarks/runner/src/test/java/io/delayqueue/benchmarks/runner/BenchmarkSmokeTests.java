package io.delayqueue.benchmarks.runner;

import java.nio.file.Path;
import java.util.List;

import io.delayqueue.benchmarks.runner.measure.Measure;
import io.delayqueue.benchmarks.runner.measure.Measures;
import io.delayqueue.benchmarks.runner.measure.Mode;
import io.delayqueue.benchmarks.runner.process.RedisBinary;
import io.delayqueue.benchmarks.runner.process.Variant;
import io.delayqueue.benchmarks.runner.process.Workshop;
import io.delayqueue.benchmarks.runner.report.Report;
import io.delayqueue.benchmarks.runner.result.Cell;
import io.delayqueue.benchmarks.runner.result.Result;
import io.delayqueue.benchmarks.runner.result.ResultFiles;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The benchmarks run, deliver exactly once and keep their results. Nothing is asserted
 * about time.
 */
@Tag("server")
@Tag("matrix")
class BenchmarkSmokeTests {

    private static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();

    private static final Path TARGET = Path.of("target/smoke").toAbsolutePath();

    @ParameterizedTest
    @ValueSource(strings = { "send", "drain" })
    void measuresWithExactDelivery(String name) {
        Measure measure = Measures.named(name);
        Workshop workshop = new Workshop(ROOT, TARGET, RedisBinary.find(ROOT));
        Result result = new Bench(workshop, Mode.SMOKE, System.out).run(measure, List.of(Variant.LIMIT, Variant.OURS),
                1);
        assertThat(result.cells()).allSatisfy(BenchmarkSmokeTests::isExact);
        assertThat(result.scenarios()).isNotEmpty()
            .allSatisfy((scenario) -> assertThat(result.contenders(scenario)).containsExactly("limit", "delayqueue"));
        ResultFiles files = new ResultFiles(TARGET.resolve("results"));
        files.write(result);
        assertThat(files.read(name)).contains(result);
        Path page = new Report(files, Measures.all()).write(TARGET.resolve("report"));
        assertThat(page).content().contains("](internals/performance-details.md)");
        assertThat(page.resolveSibling("internals/performance-details.md")).content()
            .contains("\n`" + name + "`.", "| delayqueue |", " exact |",
                    "](../performance/" + name + "-per-second.png)");
        assertThat(page.resolveSibling("performance/" + name + "-per-second.png")).isNotEmptyFile();
    }

    private static void isExact(Cell cell) {
        assertThat(cell.notes()).isEmpty();
        assertThat(cell.figures()).isNotEmpty().allSatisfy((name, value) -> assertThat(value).isNotNegative());
        assertThat(cell.delivery()).isNotNull().matches((delivery) -> delivery.isExact(), "is exact");
    }

}
