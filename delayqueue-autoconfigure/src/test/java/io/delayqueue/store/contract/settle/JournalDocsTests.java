package io.delayqueue.store.contract.settle;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Compares the table of offers in docs/internals/journal.md with the cases of it. */
class JournalDocsTests {

    @Test
    void theTableOfOffersIsThatOfTheCases() throws IOException {
        List<String> documented = Files.readAllLines(Path.of("..", "docs", "internals", "journal.md"))
            .stream()
            .dropWhile((line) -> !line.startsWith("| Redis has, for the id |"))
            .skip(2)
            .takeWhile((line) -> line.startsWith("| "))
            .map((line) -> line.replaceAll(", (no retry|successor removed)|(?<=successor) replaced", ""))
            .toList();

        assertThat(documented)
            .isEqualTo(JournalOfferCases.TABLE.lines().map((line) -> line.replaceAll("( \\d+)(?= \\|)", "")).toList());
    }

}
