package io.delayqueue.migrate;

import org.jspecify.annotations.Nullable;

/**
 * Records the outcome of a taken entry.
 *
 * @param id the id of the entry
 * @param outcome whether it was sent, dropped, or is unreadable
 * @param reason why it was not sent, without any content of the payload; {@code null} if
 * it was
 */
public record EntryOutcome(String id, Outcome outcome, @Nullable String reason) {

    /** Lists the outcomes of a taken entry. */
    public enum Outcome {

        /** It is a message of DelayQueue now. */
        SENT,

        /** It need not be moved, such as one that was deleted. */
        DROPPED,

        /** It cannot be moved as it is, and is kept. */
        UNREADABLE

    }

    /** Returns the outcome of an entry that was sent. */
    public static EntryOutcome sent(String id) {
        return new EntryOutcome(id, Outcome.SENT, null);
    }

    /** Returns the outcome of an entry that cannot be moved. */
    public static EntryOutcome unreadable(String id, String reason) {
        return new EntryOutcome(id, Outcome.UNREADABLE, reason);
    }

    /** Returns the outcome of an entry that need not be moved. */
    public static EntryOutcome dropped(String id, String reason) {
        return new EntryOutcome(id, Outcome.DROPPED, reason);
    }

}
