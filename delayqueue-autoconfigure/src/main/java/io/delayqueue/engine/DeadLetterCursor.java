package io.delayqueue.engine;

import java.time.Instant;
import java.util.Comparator;
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

    private static final Instant LATEST = Instant.ofEpochMilli(999_999_999_999_999L);

    private static final Pattern FORM = Pattern.compile("(-?\\d{1,16}):(.+)");

    /** As every partition orders its own: those of one millisecond by their names. */
    private static final Comparator<DeadLetter> LATEST_FIRST = Comparator.comparing(DeadLetter::diedAt)
        .thenComparing(DeadLetter::letterId)
        .reversed();

    /**
     * Makes a page.
     * @param letters the letters of the page and, if there are more, one more
     * @param limit most letters of the page
     */
    public static DeadLetterPage page(List<DeadLetter> letters, int limit) {
        return page(letters, limit, letters.size() > limit);
    }

    /**
     * Makes one page of those of several partitions, which began at the same cursor.
     * @param limit most letters of each of them, and of the page
     */
    public static DeadLetterPage merge(List<DeadLetterPage> pages, int limit) {
        if (pages.size() == 1) {
            return pages.get(0);
        }
        List<DeadLetter> letters = pages.stream()
            .flatMap((page) -> page.letters().stream())
            .sorted(LATEST_FIRST)
            .toList();
        return page(letters, limit,
                letters.size() > limit || pages.stream().anyMatch((page) -> page.nextCursor() != null));
    }

    private static DeadLetterPage page(List<DeadLetter> letters, int limit, boolean more) {
        if (!more) {
            return new DeadLetterPage(letters, null);
        }
        DeadLetter last = letters.get(limit - 1);
        return new DeadLetterPage(letters.subList(0, limit), last.diedAt().toEpochMilli() + ":" + last.letterId());
    }

    /** The cursor of a page that begins with what died before that. */
    public static String before(Instant died) {
        // No letter is called so, and those of that millisecond stand before it.
        Instant known = died.isAfter(LATEST) ? LATEST : died;
        return DueTime.at(known).millis() + ":!";
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
