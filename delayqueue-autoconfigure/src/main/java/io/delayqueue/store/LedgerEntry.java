package io.delayqueue.store;

import java.util.Arrays;

/**
 * Names a change that a journal is to record.
 *
 * @param kind the kind of change
 * @param revision the row of the message; 0 if it does not matter
 * @param name the id of the message; of a dead letter, its id; else empty
 */
public record LedgerEntry(Kind kind, long revision, String name) {

    /** Returns the entry of a message that has ended. */
    public static LedgerEntry ended(long revision, String id) {
        return new LedgerEntry(Kind.ENDED, revision, id);
    }

    /** Returns the kind and the revision as text, such as {@code F42}. */
    public String kindAndRevision() {
        return this.kind.prefix + this.revision;
    }

    /**
     * Parses {@link #kindAndRevision()}.
     * @throws IllegalArgumentException if it is none
     */
    public static LedgerEntry parse(String kindAndRevision, String name) {
        Kind kind = Kind.of(kindAndRevision);
        return new LedgerEntry(kind, Long.parseLong(kindAndRevision.substring(kind.prefix.length())), name);
    }

    /** Classifies changes. */
    public enum Kind {

        /** A message was handled, expired, was cancelled or replaced. */
        ENDED(""),

        /** A message failed, and is retried. */
        FAILED("F"),

        /** A message became a dead letter. */
        DEAD_LETTERED("D"),

        /** A dead letter was redriven or removed. */
        DEAD_LETTER_REMOVED("R"),

        /**
         * A journal has called the partition for the first time: it is new, or the store
         * has lost it. Recorded once its messages are restored.
         */
        LOST("L");

        private final String prefix;

        Kind(String prefix) {
            this.prefix = prefix;
        }

        private static Kind of(String text) {
            return Arrays.stream(values())
                .filter((kind) -> !kind.prefix.isEmpty() && text.startsWith(kind.prefix))
                .findFirst()
                .orElse(ENDED);
        }

    }

}
