package io.delayqueue.store;

import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
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

    /** Most characters of the payloads of a page, unless it has but one letter. */
    private static final int MAX_SIZE = 1 << 20;

    private static final Pattern FORM = Pattern.compile("(-?\\d{1,16}):(.+)");

    /** As every partition orders its own: those of one millisecond by their names. */
    private static final Comparator<DeadLetter> LATEST_FIRST = Comparator.comparing(DeadLetter::diedAt)
        .thenComparing(DeadLetter::letterId)
        .reversed();

    /**
     * Makes a page.
     * @param letters the letters of the page, and perhaps more
     * @param limit most letters of the page
     * @param more whether there are letters behind those of the page
     */
    public static DeadLetterPage page(List<DeadLetter> letters, int limit, boolean more) {
        if (!more || letters.isEmpty()) {
            return new DeadLetterPage(letters, null);
        }
        List<DeadLetter> page = letters.subList(0, Math.min(limit, letters.size()));
        DeadLetter last = page.get(page.size() - 1);
        return new DeadLetterPage(page, last.diedAt().toEpochMilli() + ":" + last.letterId());
    }

    /**
     * Makes one page of those of several partitions, which began at the same cursor. It
     * ends where one of them ends that has more, as what is behind that is not known of
     * all, or where its payloads would be more than about a mebibyte.
     * @param limit most letters of each of them, and of the page
     */
    public static DeadLetterPage merge(List<DeadLetterPage> pages, int limit) {
        if (pages.size() == 1) {
            return pages.get(0);
        }
        Optional<DeadLetter> end = pages.stream()
            .filter((page) -> page.nextCursor() != null)
            .map((page) -> page.letters().get(page.letters().size() - 1))
            .min(LATEST_FIRST);
        List<DeadLetter> letters = pages.stream()
            .flatMap((page) -> page.letters().stream())
            .filter((letter) -> end.isEmpty() || LATEST_FIRST.compare(letter, end.get()) <= 0)
            .sorted(LATEST_FIRST)
            .toList();
        int most = Math.min(limit, within(letters));
        return page(letters, most, letters.size() > most || end.isPresent());
    }

    /** How many of them make a page that is not too large; at least one. */
    private static int within(List<DeadLetter> letters) {
        long size = 0;
        for (int i = 0; i < letters.size(); i++) {
            String payload = letters.get(i).payload();
            size += (payload != null) ? payload.length() : 0;
            if (i > 0 && size > MAX_SIZE) {
                return i;
            }
        }
        return letters.size();
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
