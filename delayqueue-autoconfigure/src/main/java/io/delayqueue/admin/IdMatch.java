package io.delayqueue.admin;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * Holds a message or a dead letter that has a searched id.
 *
 * @param queue its queue
 * @param kind what was found
 * @param deadLetterId the id of the dead letter; {@code null} unless it is one
 * @param deadLetteredAt when it was dead-lettered; {@code null} unless it is one
 * @see DelayQueueInspector#search
 */
public record IdMatch(String queue, Kind kind, @Nullable String deadLetterId, @Nullable Instant deadLetteredAt) {

    /** Lists what a search may find. */
    public enum Kind {

        /** A message that waits. */
        SCHEDULED,

        /** An in-flight message. */
        LEASED,

        /** A dead letter. */
        DEAD_LETTER

    }

}
