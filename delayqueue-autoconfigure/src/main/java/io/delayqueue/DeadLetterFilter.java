package io.delayqueue;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * Which dead letters are meant: those for which all holds that is given.
 *
 * @param idPrefix what the ids of their messages begin with; {@code null} for any
 * @param causeContains what stands in their cause, in capitals or not; {@code null} for
 * any
 * @param diedFrom not dead before; {@code null} for any
 * @param diedBefore dead before, on the store's clock; {@code null} for any
 * @param group the group of their messages; {@code null} for any, or none
 */
public record DeadLetterFilter(@Nullable String idPrefix, @Nullable String causeContains, @Nullable Instant diedFrom,
        @Nullable Instant diedBefore, @Nullable String group) {

    /** All dead letters. */
    public static final DeadLetterFilter ALL = new DeadLetterFilter(null, null, null, null, null);

    public DeadLetterFilter withIdPrefix(@Nullable String idPrefix) {
        return new DeadLetterFilter(idPrefix, this.causeContains, this.diedFrom, this.diedBefore, this.group);
    }

    public DeadLetterFilter withCauseContaining(@Nullable String text) {
        return new DeadLetterFilter(this.idPrefix, text, this.diedFrom, this.diedBefore, this.group);
    }

    public DeadLetterFilter withDiedBetween(@Nullable Instant from, @Nullable Instant before) {
        return new DeadLetterFilter(this.idPrefix, this.causeContains, from, before, this.group);
    }

    public DeadLetterFilter withGroup(@Nullable String group) {
        return new DeadLetterFilter(this.idPrefix, this.causeContains, this.diedFrom, this.diedBefore, group);
    }

    /** Whether a dead letter is meant. */
    public boolean matches(DeadLetter letter) {
        return (this.idPrefix == null || letter.id().startsWith(this.idPrefix))
                && (this.causeContains == null || contains(letter.cause(), this.causeContains))
                && (this.diedFrom == null || !letter.diedAt().isBefore(this.diedFrom))
                && (this.diedBefore == null || letter.diedAt().isBefore(this.diedBefore))
                && (this.group == null || this.group.equals(letter.group()));
    }

    private static boolean contains(String text, String part) {
        for (int i = 0; i <= text.length() - part.length(); i++) {
            if (text.regionMatches(true, i, part, 0, part.length())) {
                return true;
            }
        }
        return false;
    }

}
