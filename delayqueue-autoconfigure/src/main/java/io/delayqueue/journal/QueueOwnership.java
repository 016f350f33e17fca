package io.delayqueue.journal;

import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.delayqueue.QueueName;

/**
 * Records for each queue whether the store names this journal as its owner, and lets
 * threads wait for the first comparison. Thread-safe.
 */
final class QueueOwnership {

    private final Map<QueueName, Pair> pairs = new ConcurrentHashMap<>();

    /** Whether queues are being compared, so that it makes sense to wait for that. */
    private volatile boolean comparing = true;

    /** Begins the comparisons. */
    void start() {
        this.pairs.clear();
        this.comparing = true;
    }

    /** Ends the comparisons; queues count as those of this journal from now on. */
    void stop() {
        this.comparing = false;
        this.pairs.values().forEach((pair) -> pair.compared.countDown());
    }

    /** Records that a queue belongs to this journal; whether it belonged to another. */
    boolean own(QueueName queue) {
        return pair(queue).compared(false);
    }

    /** Records that a queue belongs to another journal; whether that is new. */
    boolean foreign(QueueName queue) {
        return !pair(queue).compared(true);
    }

    boolean isForeign(QueueName queue) {
        return pair(queue).foreign;
    }

    /** Returns the queues that belong to another journal. */
    Set<String> foreign() {
        Set<String> names = new TreeSet<>();
        this.pairs.forEach((queue, pair) -> {
            if (pair.foreign) {
                names.add(queue.value());
            }
        });
        return names;
    }

    /** Returns the queues that were compared, or that a caller has asked for. */
    Set<QueueName> queues() {
        return Set.copyOf(this.pairs.keySet());
    }

    /** Returns whether a caller has asked for a queue that was not compared yet. */
    boolean isAwaited(QueueName queue) {
        Pair pair = this.pairs.get(queue);
        return pair != null && pair.compared.getCount() > 0;
    }

    /** Waits until a queue was compared with this journal; returns whether it was. */
    boolean awaitCompared(QueueName queue, Duration limit) throws InterruptedException {
        Pair pair = pair(queue);
        return !this.comparing || pair.compared.await(limit.toMillis(), TimeUnit.MILLISECONDS);
    }

    private Pair pair(QueueName queue) {
        return this.pairs.computeIfAbsent(queue, (name) -> new Pair());
    }

    /** Holds the last comparison of a queue. */
    private static final class Pair {

        private final CountDownLatch compared = new CountDownLatch(1);

        /** Written by the reconciler alone. */
        private volatile boolean foreign;

        /** Returns whether the queue belonged to another journal before. */
        boolean compared(boolean nowForeign) {
            boolean before = this.foreign;
            this.foreign = nowForeign;
            this.compared.countDown();
            return before;
        }

    }

}
