package io.delayqueue.store;

import io.delayqueue.SendOutcome;
import io.delayqueue.SkipReason;

/**
 * Receives the events of the messages of one queue in this process. Has one method for
 * each transition, called after the store has answered.
 * <p>
 * <strong>Threads.</strong> Any, including those of senders, handlers and the store's
 * connection. The methods are called for every message, so they must not block or throw.
 */
public interface MessageEventRecorder {

    /** Ignores all events. */
    MessageEventRecorder NONE = new MessageEventRecorder() {
    };

    /**
     * A send was answered. A send that waits for a commit is reported when it is sent.
     */
    default void sent(SendOutcome outcome) {
    }

    /** A send failed; the message may have been stored. */
    default void sendFailed() {
    }

    /** A waiting message was cancelled. */
    default void cancelled() {
    }

    /**
     * A handler is about to start.
     * @param latenessNanos time since the message was due, on the store's clock
     */
    default void started(long latenessNanos) {
    }

    /**
     * A handler has ended.
     * @param nanos the duration of the handler
     */
    default void handled(HandlerOutcome outcome, long nanos) {
    }

    /** A message is due again because it failed. */
    default void retried() {
    }

    /** A message was dead-lettered. */
    default void deadLettered() {
    }

    /** Messages were found expired. */
    default void expired(long messages) {
    }

    /** The store rejected a settlement or renewal, because the lease had ended. */
    default void leaseLost() {
    }

    /** A message was redelivered after its previous lease had run out. */
    default void redelivered() {
    }

    /** Occurrences of schedules were skipped. */
    default void occurrencesSkipped(SkipReason reason, long occurrences) {
    }

    /** Lists the outcomes of a handler. */
    enum HandlerOutcome {

        /** It returned. */
        SUCCESS,

        /** It threw. */
        FAILURE,

        /** It exceeded its timeout and was interrupted. */
        TIMEOUT

    }

}
