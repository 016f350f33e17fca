package io.delayqueue.web.dashboard;

import io.delayqueue.CauseMasking;
import io.delayqueue.web.http.ApiViews;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * Holds the state of the message of a schedule's occurrence.
 *
 * @param id the id of its message
 * @param state what became of it
 * @param deadLetterId its dead letter; {@code null} unless it is one
 * @param failures how often its handler has failed; 0 if that is not known
 * @param lastFailure the last failure; {@code null} if there is none or it is not known
 */
record OccurrenceStatus(String id, State state, @Nullable String deadLetterId, int failures,
        @Nullable String lastFailure) {

    OccurrenceStatus(String id, State state) {
        this(id, state, null, 0, null);
    }

    /**
     * Returns its JSON.
     * @param unmasked whether the caller may read causes
     */
    ObjectNode toJson(boolean unmasked) {
        String failure = this.lastFailure;
        return ApiViews.object()
            .put("id", this.id)
            .put("state", this.state.name())
            .put("deadLetterId", this.deadLetterId)
            .put("failures", this.failures)
            .put("lastFailure", (unmasked || failure == null) ? failure : CauseMasking.masked(failure));
    }

    /** Lists what may become of an occurrence. */
    enum State {

        /** It waits, and has not failed. */
        WAITING,

        /** It waits, and its handler has failed. */
        RETRYING,

        /** A handler runs. */
        IN_FLIGHT,

        /** It is a dead letter. */
        DEAD_LETTER,

        /** It was handled, according to the history of messages. */
        HANDLED,

        /** It has expired, according to the history of messages. */
        EXPIRED,

        /** It was cancelled, according to the history of messages. */
        CANCELLED,

        /** Its dead letter was deleted, according to the history of messages. */
        PURGED,

        /** The queue does not hold it: it was handled, or has expired, or was removed. */
        ENDED,

        /** Like {@link #ENDED}, but it may also be an older dead letter. */
        UNKNOWN

    }

}
