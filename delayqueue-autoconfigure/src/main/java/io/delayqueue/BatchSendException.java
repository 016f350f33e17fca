package io.delayqueue;

import java.util.List;

/**
 * Reports a {@code sendAll} that did not store every message. Each message of the call is
 * in exactly one of the three lists. {@link #effect()} is
 * {@link DelayQueueException.Effect#NONE} if all are in {@link #notStored()}, otherwise
 * {@link DelayQueueException.Effect#UNKNOWN}.
 *
 * @see DelayQueueOperations#sendAll
 */
public final class BatchSendException extends DelayQueueException {

    private static final long serialVersionUID = 1L;

    private final transient List<SendResult> stored;

    private final transient List<DelayedMessage> notStored;

    private final transient List<DelayedMessage> unknown;

    public BatchSendException(List<SendResult> stored, List<DelayedMessage> notStored, List<DelayedMessage> unknown,
            Throwable cause) {
        super("%d of %d messages are stored, %d are not stored, and the outcome of %d is unknown: %s".formatted(
                stored.size(), stored.size() + notStored.size() + unknown.size(), notStored.size(), unknown.size(),
                cause.getMessage()), (stored.isEmpty() && unknown.isEmpty()) ? Effect.NONE : Effect.UNKNOWN, cause);
        this.stored = List.copyOf(stored);
        this.notStored = List.copyOf(notStored);
        this.unknown = List.copyOf(unknown);
    }

    /** Returns the results of the messages that are stored. */
    public List<SendResult> stored() {
        return this.stored;
    }

    /** Returns the messages that are certainly not stored. */
    public List<DelayedMessage> notStored() {
        return this.notStored;
    }

    /**
     * Returns the messages that may or may not be stored, or are stored on fewer replicas
     * than requested. Messages for which an id was generated carry that id.
     */
    public List<DelayedMessage> unknown() {
        return this.unknown;
    }

}
