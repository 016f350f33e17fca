package io.delayqueue.store;

import java.time.Duration;

/**
 * A node's word, along with a claim, on who keeps the partition. The keeper looks as soon
 * as a message is due; the other nodes look a {@link #GRACE} later, and so seldom in
 * vain. Whoever looks may claim: who keeps a partition decides nothing but who hurries.
 *
 * @param node names the node, by letters and digits
 * @param kind what the node wants
 * @param others how many other partitions it keeps
 * @param term how long it keeps the partition unless it bids again
 */
public record PrimaryPollerBid(String node, Kind kind, int others, Duration term) {

    /**
     * How much later than the keeper the others look. Who finds what has been due for
     * longer takes the partition over, as its keeper must be away.
     */
    public static final Duration GRACE = Duration.ofMillis(500);

    /** What a node wants. */
    public enum Kind {

        /** It is the keeper and has said so a moment ago: no need to say it again. */
        HOLD,

        /** To keep the partition if nobody does or it does already, and to be told. */
        CONFIRM,

        /** The same, but also if the keeper keeps two partitions more. */
        SHARE

    }

}
