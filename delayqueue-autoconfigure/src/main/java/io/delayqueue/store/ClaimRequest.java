package io.delayqueue.store;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Holds the parameters of a claim.
 *
 * @param limit maximum number of messages to lease, 1 to {@link MessageStore#BATCH_LIMIT}
 * @param leaseTime how long the leases last
 * @param policy how to treat messages that are found expired
 * @param bid the bid to become the primary poller of the partition; {@code null} for a
 * caller that does not stay, or does not receive signals about primary pollers
 * @param usualLease the lease time configured for the queue, which is assumed for leases
 * that ran out
 * @param backlog whether due messages were left by an earlier claim, so that many may
 * have one due time; a store may then read them at a lower cost, and answers the same
 */
public record ClaimRequest(int limit, Duration leaseTime, ExpiryPolicy policy, @Nullable PrimaryPollerBid bid,
        Duration usualLease, boolean backlog) {

    /** Creates a request without a bid. */
    public ClaimRequest(int limit, Duration leaseTime, ExpiryPolicy policy) {
        this(limit, leaseTime, policy, null);
    }

    /** Creates a request with the configured lease time. */
    public ClaimRequest(int limit, Duration leaseTime, ExpiryPolicy policy, @Nullable PrimaryPollerBid bid) {
        this(limit, leaseTime, policy, bid, leaseTime);
    }

    /** Creates a request without a backlog. */
    public ClaimRequest(int limit, Duration leaseTime, ExpiryPolicy policy, @Nullable PrimaryPollerBid bid,
            Duration usualLease) {
        this(limit, leaseTime, policy, bid, usualLease, false);
    }

}
