package io.delayqueue.store;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import io.delayqueue.DeadLetterEvent;
import org.jspecify.annotations.Nullable;

/**
 * Holds the answer to {@link MessageStore#claim}.
 *
 * @param messages the messages now leased to the caller, by lane from the highest
 * priority, then by due time
 * @param now the store's time of the answer
 * @param nextAt when there may be more to claim: the earliest due time or lease end, or
 * any time that is not after {@code now} if due messages are left; {@code null} if the
 * queue is empty
 * @param expired number of messages that were found expired and removed
 * @param deadLettered the dead letters that the claim added: for expired messages if the
 * policy is to dead-letter them, and for messages whose content was missing
 * @param partitionsVersion the version of {@link PartitionLayout} recorded in the
 * partition; 0 for none
 * @param primaryPoller whether the caller is the primary poller of the partition, if it
 * made a bid
 */
public record ClaimResult(List<ClaimedMessage> messages, Instant now, @Nullable Instant nextAt, int expired,
        List<DeadLetterEvent> deadLettered, int partitionsVersion, boolean primaryPoller) {

    public ClaimResult {
        messages = List.copyOf(messages);
        deadLettered = List.copyOf(deadLettered);
    }

    /** Creates the answer of a partition that has no version recorded. */
    public ClaimResult(List<ClaimedMessage> messages, Instant now, @Nullable Instant nextAt, int expired,
            List<DeadLetterEvent> deadLettered) {
        this(messages, now, nextAt, expired, deadLettered, 0, false);
    }

    /** Returns a copy with this version recorded in the partition. */
    public ClaimResult withPartitionsVersion(int version) {
        return new ClaimResult(this.messages, this.now, this.nextAt, this.expired, this.deadLettered, version,
                this.primaryPoller);
    }

    /**
     * Returns the time from {@link #now()} until there may be more to claim, zero if
     * there is more now; {@code null} if the queue is empty.
     */
    public @Nullable Duration nextIn() {
        if (this.nextAt == null) {
            return null;
        }
        Duration wait = Duration.between(this.now, this.nextAt);
        return wait.isNegative() ? Duration.ZERO : wait;
    }

}
