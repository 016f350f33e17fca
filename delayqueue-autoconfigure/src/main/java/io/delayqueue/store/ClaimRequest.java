package io.delayqueue.store;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * What a claim asks for.
 *
 * @param limit most messages to lease, 1 to {@link MessageStore#BATCH_LIMIT}
 * @param leaseTime how long the leases last
 * @param policy what becomes of messages that are found expired
 * @param bid who would keep the partition; {@code null} for who does not stay, or hears
 * of no keeper
 * @param usualLease how long leases of the queue are, where the caller does not choose:
 * taken for the length of those that ran out
 */
public record ClaimRequest(int limit, Duration leaseTime, ExpiryPolicy policy, @Nullable PrimaryPollerBid bid,
        Duration usualLease) {

    /** Without a word on who keeps the partition. */
    public ClaimRequest(int limit, Duration leaseTime, ExpiryPolicy policy) {
        this(limit, leaseTime, policy, null);
    }

    /** For a lease of the usual length. */
    public ClaimRequest(int limit, Duration leaseTime, ExpiryPolicy policy, @Nullable PrimaryPollerBid bid) {
        this(limit, leaseTime, policy, bid, leaseTime);
    }

}
