package io.delayqueue.mutation;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/** Changes of scripts that make no difference, and why. */
final class Equivalents {

    private static final Path FILE = Path.of("src/test/resources/io/delayqueue/mutation/equivalents.txt");

    private Equivalents() {
    }

    /** Reasons by {@link Mutant#key()}: a reason stands above the changes it is of. */
    static Map<String, String> read() {
        Map<String, String> reasons = new LinkedHashMap<>();
        String reason = "";
        try {
            for (String line : Files.readAllLines(FILE)) {
                if (line.startsWith("#")) {
                    reason = line.substring(1).strip();
                }
                else if (!line.isBlank()) {
                    reasons.put(line, reason);
                }
            }
            return reasons;
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

}
