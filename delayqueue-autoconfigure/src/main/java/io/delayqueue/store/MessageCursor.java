package io.delayqueue.store;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Comparator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.delayqueue.admin.MessageSelection;

/**
 * Holds the position of a message in a {@link MessageSelection}, valid in every
 * partition.
 *
 * @param score its score in the list, as formatted by the store
 * @param member its member in the list, one character per byte
 */
public record MessageCursor(String score, String member) implements Comparable<MessageCursor> {

    private static final Pattern FORM = Pattern
        .compile("([A-Z_]+):(-?(?:inf|\\d{1,20}(?:\\.\\d{1,20})?(?:e[+-]?\\d{1,3})?)):(.+)", Pattern.DOTALL);

    /**
     * The order within a partition: members with the same score are ordered by their
     * bytes.
     */
    private static final Comparator<MessageCursor> ORDER = Comparator.comparingDouble(MessageCursor::number)
        .thenComparing(MessageCursor::member);

    private double number() {
        return switch (this.score) {
            case "inf" -> Double.POSITIVE_INFINITY;
            case "-inf" -> Double.NEGATIVE_INFINITY;
            default -> Double.parseDouble(this.score);
        };
    }

    @Override
    public int compareTo(MessageCursor other) {
        return ORDER.compare(this, other);
    }

    /** Returns the cursor that callers pass. */
    public String cursor(MessageSelection listing) {
        return Base64.getUrlEncoder()
            .withoutPadding()
            .encodeToString((listing + ":" + this.score + ":" + this.member).getBytes(StandardCharsets.ISO_8859_1));
    }

    /**
     * Reads a cursor.
     * @throws IllegalArgumentException if it was not returned by a page of that listing
     */
    public static MessageCursor parse(String cursor, MessageSelection listing) {
        Matcher matcher;
        try {
            matcher = FORM.matcher(new String(Base64.getUrlDecoder().decode(cursor), StandardCharsets.ISO_8859_1));
        }
        catch (IllegalArgumentException ex) {
            throw invalid(listing);
        }
        if (!matcher.matches() || !matcher.group(1).equals(listing.name())) {
            throw invalid(listing);
        }
        return new MessageCursor(matcher.group(2), matcher.group(3));
    }

    private static IllegalArgumentException invalid(MessageSelection listing) {
        return new IllegalArgumentException(
                "This cursor is not valid: use the nextCursor of a page of %s, or null".formatted(listing));
    }

}
