package io.delayqueue.admin;

import org.jspecify.annotations.Nullable;

/**
 * Published as an application event after somebody changed something over HTTP, on the
 * dashboard or by Actuator. Never says what a message says. A listener that throws is
 * logged and changes nothing.
 * <p>
 * <strong>Threads.</strong> What senders and operators do is told on the thread of the
 * request, before its answer; what consumers do, on one thread for all of them, in order.
 *
 * @param who the name of the caller
 * @param operation what was done, such as {@code cancel}
 * @param queue the queue
 * @param filter what it was done to: an id, ids with spaces between, or how those it was
 * done to were chosen, as JSON in one line; {@code null} for the queue as a whole
 * @param count how many messages or dead letters were changed; 0 if none was there,
 * {@link #UNKNOWN} if nobody knows
 * @param outcome how it ended
 */
public record AuditedOperationEvent(String who, String operation, String queue, @Nullable String filter, long count,
        Outcome outcome) {

    /** The count of what failed on its way. */
    public static final long UNKNOWN = -1;

    /** One that was done, or of which nobody knows how much was. */
    public AuditedOperationEvent(String who, String operation, String queue, @Nullable String filter, long count) {
        this(who, operation, queue, filter, count, (count == UNKNOWN) ? Outcome.UNKNOWN : Outcome.DONE);
    }

    /** How a change ended. */
    public enum Outcome {

        /** As was answered; {@link AuditedOperationEvent#count()} tells of how much. */
        DONE,

        /** Nothing was changed, but what {@link AuditedOperationEvent#count()} tells. */
        FAILED,

        /** It failed, and all, a part or nothing of it may have been done. */
        UNKNOWN

    }

}
