package io.delayqueue.benchmarks.runner.report;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

import io.delayqueue.benchmarks.runner.result.ResultFiles;

/**
 * Writes the tables of figures into pages that are otherwise written by hand, between two
 * marks. Each table has a template.
 */
public final class PublishedTables {

    private static final String BEGIN = "<!-- figures: scripts/benchmark report writes them -->\n";

    private static final String END = "<!-- end of figures -->";

    private static final Map<String, String> TEMPLATES = Map.of("README.md", "readme.md", "docs/comparison.md",
            "comparison.md");

    private final ResultFiles results;

    public PublishedTables(ResultFiles results) {
        this.results = results;
    }

    /**
     * Writes the tables.
     * @param root the directory of the project
     */
    public void write(Path root) {
        pages(root).forEach((page, text) -> {
            try {
                Files.writeString(root.resolve(page), text);
            }
            catch (IOException ex) {
                throw new UncheckedIOException(ex);
            }
        });
    }

    /** Returns the pages as they should be, by their paths. */
    Map<String, String> pages(Path root) {
        Template template = new Template(this.results::read);
        Map<String, String> pages = new LinkedHashMap<>();
        TEMPLATES.forEach((page, name) -> {
            try {
                String text = Files.readString(root.resolve(page));
                int begin = text.indexOf(BEGIN);
                int end = text.indexOf(END);
                if (begin < 0 || end < begin) {
                    throw new IllegalStateException("%s has no marks for its figures".formatted(page));
                }
                pages.put(page, text.substring(0, begin + BEGIN.length()) + template.fill(Report.resource(name))
                        + text.substring(end));
            }
            catch (IOException ex) {
                throw new UncheckedIOException(ex);
            }
        });
        return pages;
    }

}
