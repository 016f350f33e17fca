package io.delayqueue.migrate.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Prints the progress; tests have no terminal, so each time is a line. */
class ProgressBarTests {

    private final StringWriter output = new StringWriter();

    private long now = 42;

    @Test
    void aLineIsPrintedEveryTenSecondsAndAtTheEnd() {
        try (ProgressBar bar = bar(1_000)) {
            for (int second = 1; second <= 25; second++) {
                this.now += Duration.ofSeconds(1).toNanos();
                bar.moved("orders", 10);
            }
        }

        assertThat(lines()).satisfiesExactly((line) -> assertThat(line).contains("100 of 1,000, 10/s, 1:30 left"),
                (line) -> assertThat(line).contains("200 of 1,000, 10/s, 1:20 left"),
                (line) -> assertThat(line).contains("250 of 1,000, 10/s, 1:15 left"));
    }

    @Test
    void theBarIsAsLongAsThePartThatWasMoved() {
        ProgressBar bar = bar(1_000);
        bar.moved("orders", 500);

        assertThat(bar.line(Duration.ofSeconds(10)))
            .startsWith("[" + "=".repeat(15) + " ".repeat(15) + "]  50 % 500 of 1,000, 50/s, 0:10 left");
    }

    @Test
    void moreThanExpectedAndNoTimeAreShown() {
        ProgressBar bar = bar(100);
        bar.moved("orders", 150);

        assertThat(bar.line(Duration.ZERO)).startsWith("[" + "=".repeat(30) + "] 100 % 150 of 100")
            .endsWith("0:00 left ");
    }

    @Test
    void withoutATotalOnlyTheRateIsShown() {
        ProgressBar bar = bar(0);
        bar.moved("orders", 3_000);

        assertThat(bar.line(Duration.ofSeconds(2))).isEqualTo("3,000 moved, 1,500/s ");
    }

    private ProgressBar bar(long total) {
        return new ProgressBar(new PrintWriter(this.output, true), total, () -> this.now);
    }

    private List<String> lines() {
        return this.output.toString().lines().toList();
    }

}
