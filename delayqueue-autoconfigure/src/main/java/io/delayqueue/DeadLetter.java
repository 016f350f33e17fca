package io.delayqueue;

import java.time.Instant;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * A message that will not be tried again, kept for people to look at. It is a record of
 * its own: the queue may hold a new message with the same id.
 *
 * @param queue the queue it died in
 * @param letterId names this dead letter; for redrive and purge
 * @param id the id of the message
 * @param group the group of the message; {@code null} for none
 * @param dueAt when its last attempt was due
 * @param diedAt when it became a dead letter
 * @param failures handler failures, the last one included
 * @param lapses times its process vanished while handling it
 * @param cause why it died; the last failure with its stack, cut to a few thousand
 * characters
 * @param firstFailure its first failure if it was another one than the last
 * @param payload the payload as JSON; {@code null} if it was missing or is not readable
 * @param headers headers given by the sender
 */
public record DeadLetter(String queue, String letterId, String id, @Nullable String group, Instant dueAt,
        Instant diedAt, int failures, int lapses, String cause, @Nullable String firstFailure, @Nullable String payload,
        Map<String, String> headers) {

    public DeadLetter {
        headers = Map.copyOf(headers);
    }

    /** The first line of {@link #cause()}: what went wrong, without the stack. */
    public String reason() {
        return this.cause.lines().findFirst().orElse("");
    }

    /** Names the dead letter without its payload and cause, which may be private. */
    @Override
    public String toString() {
        return "DeadLetter[queue=%s, letterId=%s, diedAt=%s, failures=%d, lapses=%d]".formatted(this.queue,
                this.letterId, this.diedAt, this.failures, this.lapses);
    }

}
