package io.delayqueue.web.dashboard;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Checks that the page of the sample and the dashboard use the same words. */
class SampleWordsTests {

    private static final Path SAMPLE = Path.of("../sample-app/src/main/resources/static");

    private static final Pattern COLUMN = Pattern.compile("<th scope=\"col\">([^<]+)</th>");

    private static String dashboard(String file) throws IOException {
        try (InputStream content = Objects.requireNonNull(DashboardFiles.class.getResourceAsStream("static/" + file))) {
            return new String(content.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void theCountsOfAQueueHaveTheSameNames() throws IOException {
        String overview = dashboard("overview.js");
        List<String> columns = COLUMN.matcher(Files.readString(SAMPLE.resolve("index.html")))
            .results()
            .map((column) -> column.group(1))
            .toList();

        assertThat(columns).contains("Waiting", "In flight")
            .allSatisfy((column) -> assertThat(overview).contains("', '" + column + "', (queue)"));
    }

    @Test
    void theActionsOfADeadLetterHaveTheSameNames() throws IOException {
        String sample = Files.readString(SAMPLE.resolve("app.js"));
        String letters = dashboard("dead-letters.js");
        for (String verb : List.of("Redrive", "Purge")) {
            assertThat(sample).contains("button('" + verb + "', `" + verb + " the receipt");
            assertThat(letters).contains("verb: '" + verb + "'");
        }
    }

}
