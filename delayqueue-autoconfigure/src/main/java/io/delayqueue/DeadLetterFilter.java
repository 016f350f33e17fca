package io.delayqueue;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * Selects dead letters. A dead letter matches if it meets every condition that is set.
 *
 * @param idPrefix prefix of the message id; {@code null} for any
 * @param causeContains text contained in the cause, ignoring case; {@code null} for any
 * @param diedFrom earliest time of dead-lettering, inclusive, on the store's clock;
 * {@code null} for any
 * @param diedBefore latest time of dead-lettering, exclusive, on the store's clock;
 * {@code null} for any
 * @param group the group of the message; {@code null} for any, including messages without
 * a group
 */
public record DeadLetterFilter(@Nullable String idPrefix, @Nullable String causeContains, @Nullable Instant diedFrom,
        @Nullable Instant diedBefore, @Nullable String group) {

    /** Matches all dead letters. */
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

    /** Returns whether a dead letter matches. */
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
