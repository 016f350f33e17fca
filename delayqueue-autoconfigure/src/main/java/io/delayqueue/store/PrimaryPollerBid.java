package io.delayqueue.store;

import java.time.Duration;

/**
 * Holds a node's bid, sent with a claim, to become or remain the primary poller of a
 * partition. The primary poller polls as soon as a message is due; the standby nodes poll
 * {@link #GRACE} later, usually because the primary poller is gone. Every node that polls
 * may claim messages: the role only avoids useless polls.
 *
 * @param node the id of the node, of letters and digits
 * @param kind the kind of bid
 * @param others how many other partitions it is the primary poller of
 * @param term how long it remains the primary poller unless it bids again
 */
public record PrimaryPollerBid(String node, Kind kind, int others, Duration term) {

    /**
     * Delay of the standby nodes after the primary poller. A node that finds a message
     * that has been due for longer takes over the partition, because the primary poller
     * must be gone.
     */
    public static final Duration GRACE = Duration.ofMillis(500);

    /** Lists the kinds of bids. */
    public enum Kind {

        /**
         * The node is the primary poller and has published that recently; it need not be
         * published again.
         */
        RENEW,

        /**
         * The node becomes or remains the primary poller if there is no other one, and
         * this is published.
         */
        ACQUIRE,

        /**
         * Like {@code ACQUIRE}, but also takes over if the primary poller has at least
         * two partitions more.
         */
        REBALANCE

    }

}
