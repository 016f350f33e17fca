package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

import io.delayqueue.store.Partition;
import io.delayqueue.store.PrimaryPollerBid;

/**
 * Tracks the partitions whose primary poller is this node, and limits how often it takes
 * over one from another node. A partition that several listeners poll counts once.
 * Thread-safe.
 */
public final class PrimaryPartitions {

    /** Minimum time between two that a node takes; otherwise all take too many. */
    private static final long PAUSE = Nanos.of(Duration.ofSeconds(1));

    /** How long the role lasts beyond the time at which the next poll is due. */
    private static final Duration TERM_GRACE = Duration.ofSeconds(1);

    private final String node = Long.toString(ThreadLocalRandom.current().nextLong() >>> 1, Character.MAX_RADIX);

    private final Duration term;

    private final LongSupplier nanoTime;

    /** The number of listeners that are primary pollers of each partition. */
    private final ConcurrentMap<Partition, Integer> partitions = new ConcurrentHashMap<>();

    private final AtomicLong taken;

    /**
     * Creates it for a node that is no primary poller.
     * @param nanoTime the clock for time spans, which all loops of the node share
     */
    public PrimaryPartitions(Duration safetyPoll, LongSupplier nanoTime) {
        this.term = safetyPoll.plus(TERM_GRACE);
        this.nanoTime = nanoTime;
        this.taken = new AtomicLong(nanoTime.getAsLong() - PAUSE);
    }

    /** Returns the name of this node. */
    String node() {
        return this.node;
    }

    int count() {
        return this.partitions.size();
    }

    /** Returns the number of partitions besides this one. */
    int others(Partition partition) {
        return this.partitions.size() - (this.partitions.containsKey(partition) ? 1 : 0);
    }

    /** Records that a listener became the primary poller. */
    void add(Partition partition) {
        this.partitions.merge(partition, 1, Integer::sum);
    }

    /** Records that a listener is no longer the primary poller. */
    void remove(Partition partition) {
        this.partitions.computeIfPresent(partition, (same, listeners) -> (listeners > 1) ? listeners - 1 : null);
    }

    /** Returns whether to take one more partition now; counts it as taken. */
    boolean takeOne() {
        long now = this.nanoTime.getAsLong();
        long last = this.taken.get();
        return now - last >= PAUSE && this.taken.compareAndSet(last, now);
    }

    PrimaryPollerBid bid(PrimaryPollerBid.Kind kind, int others) {
        return new PrimaryPollerBid(this.node, kind, others, this.term);
    }

}
