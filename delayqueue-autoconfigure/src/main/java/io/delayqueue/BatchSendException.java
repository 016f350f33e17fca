package io.delayqueue;

import java.util.List;

/**
 * A {@code sendAll} failed part of the way. Each message of the call is in exactly one of
 * the three lists. {@link #effect()} is {@link DelayQueueException.Effect#NONE} if all
 * are in {@link #notStored()}, else {@link DelayQueueException.Effect#UNKNOWN}.
 */
public final class BatchSendException extends DelayQueueException {

    private static final long serialVersionUID = 1L;

    private final transient List<SendResult> stored;

    private final transient List<DelayedMessage> notStored;

    private final transient List<DelayedMessage> unknown;

    public BatchSendException(List<SendResult> stored, List<DelayedMessage> notStored, List<DelayedMessage> unknown,
            Throwable cause) {
        super("Of %d messages %d are stored, %d are not, and of %d it is not known: %s".formatted(
                stored.size() + notStored.size() + unknown.size(), stored.size(), notStored.size(), unknown.size(),
                cause.getMessage()), (stored.isEmpty() && unknown.isEmpty()) ? Effect.NONE : Effect.UNKNOWN, cause);
        this.stored = List.copyOf(stored);
        this.notStored = List.copyOf(notStored);
        this.unknown = List.copyOf(unknown);
    }

    /** The results of the messages that are stored. */
    public List<SendResult> stored() {
        return this.stored;
    }

    /** The messages that are certainly not stored. */
    public List<DelayedMessage> notStored() {
        return this.notStored;
    }

    /**
     * The messages that may or may not be stored, or are stored but not on as many
     * replicas as asked for; those with generated ids now have one.
     */
    public List<DelayedMessage> unknown() {
        return this.unknown;
    }

}
