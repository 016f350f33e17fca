package io.delayqueue.store;

import java.time.Instant;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * Holds the end of a pause, during which claims of the queue return no messages. Recorded
 * with the {@link PartitionLayout} in the slot of each partition.
 *
 * @param until the end, on the store's clock, in whole milliseconds; {@code null} if the
 * queue must be resumed explicitly
 */
public record Pause(@Nullable Instant until) {

    private static final Pattern FORM = Pattern.compile("p(\\d{0,15})");

    /** Parses the result of {@link #text()}; returns {@code null} for an empty text. */
    public static @Nullable Pause parse(@Nullable String text) {
        if (text == null || text.isEmpty()) {
            return null;
        }
        Matcher matcher = FORM.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("'%s' is no pause such as 'p1790000000000'".formatted(text));
        }
        String until = matcher.group(1);
        return new Pause(until.isEmpty() ? null : Instant.ofEpochMilli(Long.parseLong(until)));
    }

    /**
     * Returns the recorded form: {@code p}, and the end in milliseconds if there is one.
     */
    String text() {
        return (this.until != null) ? "p" + this.until.toEpochMilli() : "p";
    }

    /** Returns whether it has ended at that time. */
    public boolean isOver(Instant now) {
        return this.until != null && !this.until.isAfter(now);
    }

}
