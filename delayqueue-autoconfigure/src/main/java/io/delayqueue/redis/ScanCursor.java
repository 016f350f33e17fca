package io.delayqueue.redis;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.delayqueue.admin.ScanSelection;
import org.jspecify.annotations.Nullable;

/**
 * Holds the position of a walk through some keys of a partition.
 *
 * @param index which of the keys of the selection
 * @param position the cursor that Redis returned
 */
record ScanCursor(int index, String position) {

    private static final Pattern FORM = Pattern.compile("(\\d):(\\d{1,20})");

    static final String BEGIN = "0";

    /** The numbers of keys that scan.lua takes. */
    private static final int SCHEDULED = 2;

    private static final int LEASED = 5;

    static final int ATTEMPTS = 7;

    private static final int DEAD = 10;

    private static final int PRIORITIES = 12;

    static final int WAITING = 13;

    /** Returns the keys that hold the members of a selection. */
    static List<Integer> keysOf(ScanSelection selection) {
        return switch (selection) {
            case ALL -> List.of(SCHEDULED, PRIORITIES, LEASED, WAITING, DEAD);
            case SCHEDULED, DUE -> List.of(SCHEDULED, PRIORITIES);
            case LEASED -> List.of(LEASED);
            case WAITING_IN_GROUP -> List.of(WAITING);
            case RETRYING -> List.of(ATTEMPTS);
            case DEAD -> List.of(DEAD);
        };
    }

    /**
     * Reads a cursor.
     * @throws IllegalArgumentException if no step has returned it
     */
    static ScanCursor parse(@Nullable String cursor, int keys) {
        if (cursor == null) {
            return new ScanCursor(0, BEGIN);
        }
        Matcher matcher = FORM.matcher(cursor);
        if (!matcher.matches() || Integer.parseInt(matcher.group(1)) >= keys) {
            throw new IllegalArgumentException("This cursor is not valid: use the nextCursor of a page, or null");
        }
        return new ScanCursor(Integer.parseInt(matcher.group(1)), matcher.group(2));
    }

    /** Returns where the next step begins; {@code null} at the end of the last key. */
    @Nullable String next(String position, int keys) {
        if (!position.equals(BEGIN)) {
            return this.index + ":" + position;
        }
        return (this.index + 1 < keys) ? (this.index + 1) + ":" + BEGIN : null;
    }

    /** Returns a pattern that matches members that begin with a text. */
    static String startingWith(String text) {
        return text.replaceAll("[\\\\*?\\[\\]]", "\\\\$0") + "*";
    }

}
