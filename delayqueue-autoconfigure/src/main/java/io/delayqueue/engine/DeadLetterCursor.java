package io.delayqueue.engine;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.delayqueue.DeadLetter;
import io.delayqueue.DeadLetterPage;

/**
 * Where a page of dead letters ended, as callers pass it on.
 *
 * @param diedMillis time of death of the last letter, milliseconds since the epoch
 * @param letterId the last letter
 */
public record DeadLetterCursor(long diedMillis, String letterId) {

    private static final Pattern FORM = Pattern.compile("(\\d{1,15}):(.{1,200})");

    /**
     * Makes a page.
     * @param letters the letters of the page and, if there are more, one more
     * @param limit most letters of the page
     */
    public static DeadLetterPage page(List<DeadLetter> letters, int limit) {
        if (letters.size() <= limit) {
            return new DeadLetterPage(letters, null);
        }
        DeadLetter last = letters.get(limit - 1);
        return new DeadLetterPage(letters.subList(0, limit), last.diedAt().toEpochMilli() + ":" + last.letterId());
    }

    /**
     * Reads a cursor.
     * @throws IllegalArgumentException if it is none that a page gave
     */
    public static DeadLetterCursor parse(String cursor) {
        Matcher matcher = FORM.matcher(cursor);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("This cursor is not valid: use the nextCursor of a page, or null");
        }
        return new DeadLetterCursor(Long.parseLong(matcher.group(1)), matcher.group(2));
    }

}
