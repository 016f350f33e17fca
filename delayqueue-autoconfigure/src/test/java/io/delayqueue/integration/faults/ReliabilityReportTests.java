package io.delayqueue.integration.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import io.delayqueue.fixtures.faults.ReliabilityReport;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The tables of docs/internals/reliability.md are those of the results beside it. With
 * {@code -Ddq.report=write} they become so, after new results were put there.
 */
class ReliabilityReportTests {

    private static final Path PAGE = Path.of("..", "docs", "internals", "reliability.md");

    private static final Path RESULTS = Path.of("..", "docs", "internals", "reliability", "results.jsonl");

    private static final String BEGIN = "<!-- made of reliability/results.jsonl -->\n";

    private static final String END = "<!-- end -->\n";

    @Test
    void theTablesAreThoseOfTheResults() throws IOException {
        String page = Files.readString(PAGE);
        int begin = page.indexOf(BEGIN) + BEGIN.length();
        int end = page.indexOf(END);
        assertThat(begin).isPositive().isLessThanOrEqualTo(end);
        String tables = new ReliabilityReport(Files.readAllLines(RESULTS)).text();
        if ("write".equals(System.getProperty("dq.report"))) {
            Files.writeString(PAGE, page.substring(0, begin) + tables + page.substring(end));
        }
        else {
            assertThat(page.substring(begin, end)).isEqualTo(tables);
        }
    }

}
