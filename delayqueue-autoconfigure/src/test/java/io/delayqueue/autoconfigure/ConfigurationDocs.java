package io.delayqueue.autoconfigure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

import org.springframework.boot.context.properties.bind.DataObjectPropertyName;

/** The tables of docs/configuration.md. */
final class ConfigurationDocs {

    private ConfigurationDocs() {
    }

    /** The rows of all tables that have this header, as their cells. */
    static List<List<String>> table(String header) {
        List<String> lines = lines();
        List<Integer> starts = IntStream.range(0, lines.size())
            .filter((i) -> lines.get(i).equals(header))
            .boxed()
            .toList();
        return starts.stream()
            .flatMap((
                    start) -> lines.subList(start + 2, lines.size()).stream().takeWhile((line) -> line.startsWith("|")))
            .map(ConfigurationDocs::cells)
            .toList();
    }

    private static List<String> cells(String row) {
        return Arrays.stream(row.substring(1).split("\\|")).map(String::strip).toList();
    }

    /** The whole page. */
    static List<String> lines() {
        try {
            return Files.readAllLines(Path.of("../docs/configuration.md"));
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    static String kebab(String name) {
        return DataObjectPropertyName.toDashedForm(name);
    }

}
