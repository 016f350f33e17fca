package io.delayqueue.store;

import java.time.Instant;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * That a queue is paused: until then no claim takes anything from it. It is recorded with
 * its {@link PartitionLayout}, in the slot of each of them.
 *
 * @param until the end, on the store's clock, in milliseconds; {@code null} if somebody
 * has to end it
 */
public record Pause(@Nullable Instant until) {

    private static final Pattern FORM = Pattern.compile("p(\\d{0,15})");

    /** Reads what {@link #text()} wrote; {@code null} from an empty text. */
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

    /** As it is recorded: {@code p}, and the end in milliseconds if there is one. */
    String text() {
        return (this.until != null) ? "p" + this.until.toEpochMilli() : "p";
    }

    /** Whether it is over by then. */
    public boolean isOver(Instant now) {
        return this.until != null && !this.until.isAfter(now);
    }

}
