package io.delayqueue.store;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/** Finds the intended name for a mistyped one. */
public final class SimilarNames {

    private static final int CHARACTERS_PER_MISTAKE = 4;

    private SimilarNames() {
    }

    /**
     * Finds the name that takes the fewest insertions, deletions and replacements of a
     * character, at most one per four characters plus one. Letter case and the characters
     * {@code . _ -} are ignored.
     */
    public static Optional<String> among(Collection<String> names, String mistyped) {
        String written = plain(mistyped);
        int most = written.length() / CHARACTERS_PER_MISTAKE + 1;
        return names.stream()
            .filter((name) -> !name.equals(mistyped) && distance(plain(name), written) <= most)
            .min(Comparator.comparingInt((String name) -> distance(plain(name), written))
                .thenComparing(Comparator.naturalOrder()));
    }

    private static String plain(String name) {
        return name.toLowerCase(Locale.ROOT).replaceAll("[._-]", "");
    }

    /** Returns the Levenshtein distance, computed row by row. */
    private static int distance(String one, String other) {
        int[] row = new int[other.length() + 1];
        for (int j = 0; j < row.length; j++) {
            row[j] = j;
        }
        for (int i = 1; i <= one.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j < row.length; j++) {
                int replaced = diagonal + ((one.charAt(i - 1) == other.charAt(j - 1)) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(replaced, Math.min(row[j], row[j - 1]) + 1);
            }
        }
        return row[other.length()];
    }

}
