package io.delayqueue;

import java.time.Instant;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * Holds a message that will not be retried, for inspection, redrive or purge. It is
 * stored separately: the queue may hold a new message with the same id.
 *
 * @param queue the queue that dead-lettered it
 * @param id the id of this dead letter, for redrive and purge
 * @param messageId the id of the message
 * @param group the group of the message; {@code null} for none
 * @param dueAt when its last attempt was due
 * @param deadLetteredAt when the message was dead-lettered
 * @param failures handler failures, including the last one
 * @param lapses leases that ran out after the start of the handler was recorded, for
 * example because the process crashed
 * @param cause why it was dead-lettered: the last failure with its stack trace, truncated
 * to a few thousand characters
 * @param firstFailure its first failure, if that differs from the last one
 * @param payload the payload as JSON; {@code null} if it was missing or cannot be read
 * @param headers headers set by the sender
 * @see DeadLetterOperations
 */
public record DeadLetter(String queue, String id, String messageId, @Nullable String group, Instant dueAt,
        Instant deadLetteredAt, int failures, int lapses, String cause, @Nullable String firstFailure,
        @Nullable String payload, Map<String, String> headers) {

    public DeadLetter {
        headers = Map.copyOf(headers);
    }

    /** Returns the first line of {@link #cause()}, without the stack trace. */
    public String reason() {
        return this.cause.lines().findFirst().orElse("");
    }

    /** Describes the dead letter without its payload and cause, which may be private. */
    @Override
    public String toString() {
        return "DeadLetter[queue=%s, id=%s, deadLetteredAt=%s, failures=%d, lapses=%d]".formatted(this.queue, this.id,
                this.deadLetteredAt, this.failures, this.lapses);
    }

}
