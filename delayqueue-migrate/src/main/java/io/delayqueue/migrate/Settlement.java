package io.delayqueue.migrate;

import org.jspecify.annotations.Nullable;

/**
 * Records the end of a taken entry.
 *
 * @param id the id of the entry
 * @param outcome what became of it
 * @param reason why it was not sent, without any content of the payload; {@code null} if
 * it was
 */
public record Settlement(String id, Outcome outcome, @Nullable String reason) {

    /** Lists what can become of a taken entry. */
    public enum Outcome {

        /** It is a message of DelayQueue now. */
        SENT,

        /** It need not be moved, such as one that was deleted. */
        DROPPED,

        /** It cannot be moved as it is, and is kept. */
        UNREADABLE

    }

    /** Returns the settlement of an entry that was sent. */
    public static Settlement sent(String id) {
        return new Settlement(id, Outcome.SENT, null);
    }

    /** Returns the settlement of an entry that cannot be moved. */
    public static Settlement unreadable(String id, String reason) {
        return new Settlement(id, Outcome.UNREADABLE, reason);
    }

    /** Returns the settlement of an entry that need not be moved. */
    public static Settlement dropped(String id, String reason) {
        return new Settlement(id, Outcome.DROPPED, reason);
    }

}
