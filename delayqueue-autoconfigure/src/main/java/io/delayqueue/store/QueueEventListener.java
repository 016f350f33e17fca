package io.delayqueue.store;

import io.delayqueue.SendOutcome;

/**
 * Told of what becomes of the messages of one queue in this process: one method for each
 * transition, called after the store has answered.
 * <p>
 * <strong>Threads.</strong> Any, those of senders, handlers and of the store's
 * connection. These calls are on the way of every message, so they neither wait nor
 * throw.
 */
public interface QueueEventListener {

    /** Tells nobody. */
    QueueEventListener NONE = new QueueEventListener() {
    };

    /** A send was answered; one that waits for a commit is told of when it is sent. */
    default void sent(SendOutcome outcome) {
    }

    /** A send failed; the message may be stored nevertheless. */
    default void sendFailed() {
    }

    /** A message that waited was cancelled. */
    default void cancelled() {
    }

    /**
     * A handler is about to start.
     * @param latenessNanos since the message was due, by the store's clock
     */
    default void started(long latenessNanos) {
    }

    /**
     * A handler has ended.
     * @param nanos how long it took
     */
    default void handled(HandlerOutcome outcome, long nanos) {
    }

    /** A message is due again because it failed. */
    default void retried() {
    }

    /** A message became a dead letter. */
    default void died() {
    }

    /** Messages were found past their time to live. */
    default void expired(long messages) {
    }

    /** A settlement or renewal was turned away: the message has passed on. */
    default void refused() {
    }

    /** A message was claimed whose lease before had run out. */
    default void redelivered() {
    }

    /** How a handler ended. */
    enum HandlerOutcome {

        /** It returned. */
        SUCCESS,

        /** It threw. */
        FAILURE,

        /** It took longer than it may, and was interrupted. */
        TIMEOUT

    }

}
