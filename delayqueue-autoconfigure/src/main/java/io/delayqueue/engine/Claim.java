package io.delayqueue.engine;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The answer to {@link MessageStore#claim}.
 *
 * @param messages the messages now leased to the caller, the highest lane and the longest
 * due first
 * @param now the store's time when it answered
 * @param nextAt when there may be more to claim: the earliest due time or end of a lease;
 * {@code null} if the queue is empty
 * @param expired how many messages were found expired and removed
 */
public record Claim(List<ClaimedMessage> messages, Instant now, @Nullable Instant nextAt, int expired) {

    public Claim {
        messages = List.copyOf(messages);
    }

    /**
     * Time from {@link #now()} until there may be more to claim, zero if there is now;
     * {@code null} if the queue is empty.
     */
    public @Nullable Duration nextIn() {
        if (this.nextAt == null) {
            return null;
        }
        Duration wait = Duration.between(this.now, this.nextAt);
        return wait.isNegative() ? Duration.ZERO : wait;
    }

}
