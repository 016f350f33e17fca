package io.delayqueue;

import java.time.Instant;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * Holds a message as it was stored at one moment.
 *
 * @param queue the queue that holds it
 * @param id its id
 * @param state its state
 * @param dueAt when it is due, or after a lapse, when the lapsed attempt was due;
 * {@code null} while {@link MessageState#LEASED}
 * @param leasedUntil when its lease ends unless renewed, rounded down to a tenth of a
 * second; {@code null} unless {@link MessageState#LEASED}
 * @param expiresAt when it expires and is no longer handled; {@code null} if never
 * @param priority {@value MessageLimits#MIN_PRIORITY} (last) to
 * {@value MessageLimits#MAX_PRIORITY} (first)
 * @param group its group; {@code null} for none
 * @param failures previous handler failures
 * @param lapses leases that ran out after the start of the handler was recorded
 * @param failureReasons its failures; {@code null} if it has not failed
 * @param payload the payload as JSON
 * @param headers headers set by the sender
 * @see DelayQueueOperations#find
 */
public record StoredMessage(String queue, String id, MessageState state, @Nullable Instant dueAt,
        @Nullable Instant leasedUntil, @Nullable Instant expiresAt, int priority, @Nullable String group, int failures,
        int lapses, @Nullable FailureReasons failureReasons, String payload, Map<String, String> headers) {

    public StoredMessage {
        leasedUntil = MessageSummary.rounded(leasedUntil);
        headers = Map.copyOf(headers);
    }

    /** Describes the message without its payload, which may be private. */
    @Override
    public String toString() {
        return "StoredMessage[queue=%s, id=%s, state=%s, dueAt=%s, leasedUntil=%s]".formatted(this.queue, this.id,
                this.state, this.dueAt, this.leasedUntil);
    }

}
