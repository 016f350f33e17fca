package io.delayqueue.admin;

import org.jspecify.annotations.Nullable;

/**
 * Records a change that a principal made over HTTP, on the dashboard or by Actuator.
 * Published as an application event. Contains no message content. An exception thrown by
 * an event listener is logged and has no other effect.
 * <p>
 * <strong>Threads.</strong> Operations of senders and operators are published on the
 * request thread, before the response. Operations of consumers are published in order on
 * a single thread.
 *
 * @param principal the name of the principal
 * @param operation the operation, such as {@code cancel}
 * @param queue the queue; {@code null} for an operation on a node
 * @param filter the target: an id, ids separated by spaces, or the criteria of a
 * selection as JSON in one line, or the node; {@code null} for the whole queue
 * @param count number of messages or dead letters that were changed; 0 if there was none,
 * {@link #UNKNOWN} if it is not known
 * @param outcome how it ended
 * @see io.delayqueue.DeadLetterEvent
 */
public record AuditedOperationEvent(String principal, String operation, @Nullable String queue, @Nullable String filter,
        long count, Outcome outcome) {

    /** The count of an operation that failed part of the way. */
    public static final long UNKNOWN = -1;

    /**
     * Creates the event of a completed operation, or of an operation whose count is
     * unknown.
     */
    public AuditedOperationEvent(String principal, String operation, @Nullable String queue, @Nullable String filter,
            long count) {
        this(principal, operation, queue, filter, count, (count == UNKNOWN) ? Outcome.UNKNOWN : Outcome.DONE);
    }

    /** Lists the outcomes of a change. */
    public enum Outcome {

        /**
         * The operation completed as answered; see {@link AuditedOperationEvent#count()}.
         */
        DONE,

        /**
         * The operation failed. Only {@link AuditedOperationEvent#count()} entries were
         * changed.
         */
        FAILED,

        /** The operation failed, and may have been done fully, partly or not at all. */
        UNKNOWN

    }

}
