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
 * Holds the position at which a page of dead letters ended, and converts it to and from
 * the cursor that callers pass.
 *
 * @param deadLetteredMillis time at which the last message of the page was dead-lettered,
 * in milliseconds since the epoch
 * @param deadLetterId the id of the last dead letter
 */
public record DeadLetterCursor(long deadLetteredMillis, String deadLetterId) {

    private static final Instant LATEST = Instant.ofEpochMilli(999_999_999_999_999L);

    /**
     * Maximum total length of the payloads of a page, in characters, unless it has only
     * one dead letter.
     */
    private static final int MAX_SIZE = 1 << 20;

    private static final Pattern FORM = Pattern.compile("(-?\\d{1,16}):(.+)");

    /**
     * The order within a partition: entries of the same millisecond are ordered by id.
     */
    private static final Comparator<DeadLetter> LATEST_FIRST = Comparator.comparing(DeadLetter::deadLetteredAt)
        .thenComparing(DeadLetter::id)
        .reversed();

    /**
     * Creates a page.
     * @param deadLetters the dead letters of the page, and possibly more
     * @param limit maximum number of dead letters in the page
     * @param more whether there are dead letters after {@code deadLetters}
     */
    public static DeadLetterPage page(List<DeadLetter> deadLetters, int limit, boolean more) {
        if (!more || deadLetters.isEmpty()) {
            return new DeadLetterPage(deadLetters, null);
        }
        List<DeadLetter> page = deadLetters.subList(0, Math.min(limit, deadLetters.size()));
        DeadLetter last = page.get(page.size() - 1);
        return new DeadLetterPage(page, last.deadLetteredAt().toEpochMilli() + ":" + last.id());
    }

    /**
     * Merges the pages of several partitions that started at the same cursor. The result
     * ends where the first partition that has more entries ends, because the order after
     * that is not known, or where its payloads would exceed about one mebibyte.
     * @param limit maximum number of dead letters of each page, and of the result
     */
    public static DeadLetterPage merge(List<DeadLetterPage> pages, int limit) {
        if (pages.size() == 1) {
            return pages.get(0);
        }
        Optional<DeadLetter> end = pages.stream()
            .filter((page) -> page.nextCursor() != null)
            .map((page) -> page.deadLetters().get(page.deadLetters().size() - 1))
            .min(LATEST_FIRST);
        List<DeadLetter> deadLetters = pages.stream()
            .flatMap((page) -> page.deadLetters().stream())
            .filter((deadLetter) -> end.isEmpty() || LATEST_FIRST.compare(deadLetter, end.get()) <= 0)
            .sorted(LATEST_FIRST)
            .toList();
        int most = Math.min(limit, within(deadLetters));
        return page(deadLetters, most, deadLetters.size() > most || end.isPresent());
    }

    /** Returns how many of them fit into a page; at least one. */
    private static int within(List<DeadLetter> deadLetters) {
        long size = 0;
        for (int i = 0; i < deadLetters.size(); i++) {
            String payload = deadLetters.get(i).payload();
            size += (payload != null) ? payload.length() : 0;
            if (i > 0 && size > MAX_SIZE) {
                return i;
            }
        }
        return deadLetters.size();
    }

    /**
     * Returns the cursor of a page that starts with messages dead-lettered before that
     * time.
     */
    public static String before(Instant deadLetteredAt) {
        // No dead letter has this id, and those of that millisecond are ordered before
        // it.
        Instant known = deadLetteredAt.isAfter(LATEST) ? LATEST : deadLetteredAt;
        return DueTime.at(known).millis() + ":!";
    }

    /**
     * Reads a cursor.
     * @throws IllegalArgumentException if it was not returned by a page
     */
    public static DeadLetterCursor parse(String cursor) {
        Matcher matcher = FORM.matcher(cursor);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("This cursor is not valid: use the nextCursor of a page, or null");
        }
        return new DeadLetterCursor(Long.parseLong(matcher.group(1)), matcher.group(2));
    }

}
