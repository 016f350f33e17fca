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
 * The partitions that this node keeps, as far as it knows: how many, and whether it may
 * take one from a node that keeps more. Several listeners may keep one partition, which
 * counts once. Thread-safe.
 */
public final class PrimaryPartitions {

    /** So long a node waits between two that it takes, or all would take too many. */
    private static final long PAUSE = Nanos.of(Duration.ofSeconds(1));

    /** How long a keeper stays one beyond the time at which it should look again. */
    private static final Duration TERM_GRACE = Duration.ofSeconds(1);

    private final String node = Long.toString(ThreadLocalRandom.current().nextLong() >>> 1, Character.MAX_RADIX);

    private final Duration term;

    private final LongSupplier nanoTime;

    /** How many listeners keep each. */
    private final ConcurrentMap<Partition, Integer> keeping = new ConcurrentHashMap<>();

    private final AtomicLong taken;

    /**
     * Creates it for a node that keeps none.
     * @param nanoTime the clock for spans, which all loops of the node share
     */
    public PrimaryPartitions(Duration safetyPoll, LongSupplier nanoTime) {
        this.term = safetyPoll.plus(TERM_GRACE);
        this.nanoTime = nanoTime;
        this.taken = new AtomicLong(nanoTime.getAsLong() - PAUSE);
    }

    /** Names this node. */
    String node() {
        return this.node;
    }

    int count() {
        return this.keeping.size();
    }

    /** How many it keeps besides this one. */
    int others(Partition partition) {
        return this.keeping.size() - (this.keeping.containsKey(partition) ? 1 : 0);
    }

    /** A listener keeps it. */
    void add(Partition partition) {
        this.keeping.merge(partition, 1, Integer::sum);
    }

    /** A listener keeps it no more. */
    void remove(Partition partition) {
        this.keeping.computeIfPresent(partition, (kept, listeners) -> (listeners > 1) ? listeners - 1 : null);
    }

    /** Whether it is time to take one more; counts as if one was taken. */
    boolean takeOne() {
        long now = this.nanoTime.getAsLong();
        long last = this.taken.get();
        return now - last >= PAUSE && this.taken.compareAndSet(last, now);
    }

    PrimaryPollerBid bid(PrimaryPollerBid.Kind kind, int others) {
        return new PrimaryPollerBid(this.node, kind, others, this.term);
    }

}
