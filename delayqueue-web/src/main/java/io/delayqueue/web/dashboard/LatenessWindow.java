package io.delayqueue.web.dashboard;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * Computes how late the handlers of this node began over about the last minute, by queue.
 * Samples their counts when it is called, at most every five seconds. Thread-safe.
 */
final class LatenessWindow {

    private static final long SPAN = TimeUnit.MINUTES.toNanos(1);

    private static final long INTERVAL = TimeUnit.SECONDS.toNanos(5);

    private static final double PART = 0.99;

    private final Supplier<Map<String, SortedMap<Long, Long>>> counts;

    private final LongSupplier nanoTime;

    private final Deque<Sample> samples = new ArrayDeque<>();

    /**
     * Creates a window.
     * @param counts returns the number of handler starts by queue and by upper bound of
     * lateness in microseconds
     */
    LatenessWindow(Supplier<Map<String, SortedMap<Long, Long>>> counts, LongSupplier nanoTime) {
        this.counts = counts;
        this.nanoTime = nanoTime;
    }

    /**
     * Returns the 99th percentile in milliseconds, of the queues that began a handler
     * within the window; empty at the first call, and after a minute without one.
     */
    synchronized Map<String, Long> p99() {
        long now = this.nanoTime.getAsLong();
        Map<String, SortedMap<Long, Long>> counts = this.counts.get();
        while (!this.samples.isEmpty() && now - this.samples.getFirst().nanos() > SPAN) {
            this.samples.removeFirst();
        }
        Map<String, Long> percentiles = new HashMap<>();
        Sample oldest = this.samples.peekFirst();
        if (oldest != null) {
            counts.forEach((queue, current) -> {
                Long percentile = percentile(current, oldest.counts().getOrDefault(queue, new TreeMap<>()));
                if (percentile != null) {
                    percentiles.put(queue, percentile);
                }
            });
        }
        Sample latest = this.samples.peekLast();
        if (latest == null || now - latest.nanos() >= INTERVAL) {
            this.samples.addLast(new Sample(now, counts));
        }
        return percentiles;
    }

    private static @Nullable Long percentile(SortedMap<Long, Long> current, SortedMap<Long, Long> before) {
        SortedMap<Long, Long> begun = new TreeMap<>();
        current.forEach((bound, count) -> begun.put(bound, Math.max(0, count - before.getOrDefault(bound, 0L))));
        long all = begun.values().stream().mapToLong(Long::longValue).sum();
        long seen = 0;
        for (Map.Entry<Long, Long> entry : begun.entrySet()) {
            seen += entry.getValue();
            if (entry.getValue() > 0 && seen >= all * PART) {
                return TimeUnit.MICROSECONDS.toMillis(entry.getKey());
            }
        }
        return null;
    }

    /** Holds the counts at a time. */
    private record Sample(long nanos, Map<String, SortedMap<Long, Long>> counts) {
    }

}
