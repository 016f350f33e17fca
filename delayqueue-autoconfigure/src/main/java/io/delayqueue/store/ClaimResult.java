package io.delayqueue.store;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import io.delayqueue.DeadLetterEvent;
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
 * @param buried the dead letters that the claim added: of expired messages if the policy
 * is to keep them, and of messages whose content was missing
 * @param partitionsVersion the version of {@link PartitionLayout} that the partition has
 * recorded; 0 for none
 * @param keeper whether the caller keeps the partition, if it made a bid for that
 */
public record ClaimResult(List<ClaimedMessage> messages, Instant now, @Nullable Instant nextAt, int expired,
        List<DeadLetterEvent> buried, int partitionsVersion, boolean keeper) {

    public ClaimResult {
        messages = List.copyOf(messages);
        buried = List.copyOf(buried);
    }

    /** An answer of a partition that has no version recorded. */
    public ClaimResult(List<ClaimedMessage> messages, Instant now, @Nullable Instant nextAt, int expired,
            List<DeadLetterEvent> buried) {
        this(messages, now, nextAt, expired, buried, 0, false);
    }

    /** The same from a partition that has this version recorded. */
    public ClaimResult withPartitionsVersion(int version) {
        return new ClaimResult(this.messages, this.now, this.nextAt, this.expired, this.buried, version, this.keeper);
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
