package io.delayqueue;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * Selects dead letters. A dead letter matches if it meets every condition that is set.
 * <pre class="code">
 * DeadLetterFilter timeouts = DeadLetterFilter.ALL.withCauseContaining("SocketTimeoutException");
 * String cursor = null;
 * do {
 *     cursor = delayQueue.deadLetters("receipt").redrive(timeouts, cursor).nextCursor();
 * }
 * while (cursor != null);
 * </pre>
 *
 * @param idPrefix prefix of the message id; {@code null} for any
 * @param causeContains text contained in the cause, ignoring case; {@code null} for any
 * @param deadLetteredFrom earliest time of dead-lettering, inclusive, on the store's
 * clock; {@code null} for any
 * @param deadLetteredBefore latest time of dead-lettering, exclusive, on the store's
 * clock; {@code null} for any
 * @param group the group of the message; {@code null} for any, including messages without
 * a group
 * @param causeGroup the {@linkplain CauseGroup#key() key of the group} of the cause;
 * {@code null} for any
 */
public record DeadLetterFilter(@Nullable String idPrefix, @Nullable String causeContains,
        @Nullable Instant deadLetteredFrom, @Nullable Instant deadLetteredBefore, @Nullable String group,
        @Nullable String causeGroup) {

    /** Matches all dead letters. */
    public static final DeadLetterFilter ALL = new DeadLetterFilter(null, null, null, null, null, null);

    public DeadLetterFilter withIdPrefix(@Nullable String idPrefix) {
        return new DeadLetterFilter(idPrefix, this.causeContains, this.deadLetteredFrom, this.deadLetteredBefore,
                this.group, this.causeGroup);
    }

    public DeadLetterFilter withCauseContaining(@Nullable String text) {
        return new DeadLetterFilter(this.idPrefix, text, this.deadLetteredFrom, this.deadLetteredBefore, this.group,
                this.causeGroup);
    }

    public DeadLetterFilter withDeadLetteredBetween(@Nullable Instant from, @Nullable Instant before) {
        return new DeadLetterFilter(this.idPrefix, this.causeContains, from, before, this.group, this.causeGroup);
    }

    public DeadLetterFilter withGroup(@Nullable String group) {
        return new DeadLetterFilter(this.idPrefix, this.causeContains, this.deadLetteredFrom, this.deadLetteredBefore,
                group, this.causeGroup);
    }

    public DeadLetterFilter withCauseGroup(@Nullable String causeGroup) {
        return new DeadLetterFilter(this.idPrefix, this.causeContains, this.deadLetteredFrom, this.deadLetteredBefore,
                this.group, causeGroup);
    }

    /** Returns whether a dead letter matches. */
    public boolean matches(DeadLetter deadLetter) {
        return (this.idPrefix == null || deadLetter.messageId().startsWith(this.idPrefix))
                && (this.causeContains == null || contains(deadLetter.cause(), this.causeContains))
                && (this.deadLetteredFrom == null || !deadLetter.deadLetteredAt().isBefore(this.deadLetteredFrom))
                && (this.deadLetteredBefore == null || deadLetter.deadLetteredAt().isBefore(this.deadLetteredBefore))
                && (this.group == null || this.group.equals(deadLetter.group()))
                && (this.causeGroup == null || CauseGroup.contains(this.causeGroup, deadLetter.cause()));
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
