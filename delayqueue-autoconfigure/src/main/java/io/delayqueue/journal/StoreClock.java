package io.delayqueue.journal;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.QueueName;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.Partition;
import io.delayqueue.store.StoreFutures;
import io.delayqueue.store.routing.PartitionLayouts;

/**
 * Estimates the present time of a partition from the time that it returned last and the
 * monotonic clock of this process. Thread-safe.
 */
final class StoreClock {

    private static final long MILLI = 1_000_000;

    private static final Duration REFRESH = Duration.ofSeconds(30);

    private final PartitionLayouts layouts;

    private final Map<Partition, Reading> readings = new ConcurrentHashMap<>();

    /** The partitions whose first read has ended, with or without an answer. */
    private final Set<Partition> tried = ConcurrentHashMap.newKeySet();

    /** The reads that have not ended. */
    private final Map<Partition, CompletableFuture<Void>> reading = new ConcurrentHashMap<>();

    StoreClock(PartitionLayouts layouts) {
        this.layouts = layouts;
    }

    /** Does the same as {@link #prepared}, and waits for it. */
    void prepare(QueueName queue) {
        prepared(queue).join();
    }

    /**
     * Reads the times of the partitions of a queue at first, once in a while and after a
     * failure. The result is complete after the first read of each partition, with or
     * without an answer, and does not wait for later ones: a server that is away must not
     * delay the calls to the others. Does not wait.
     */
    CompletableFuture<Void> prepared(QueueName queue) {
        return this.layouts.of(queue).thenCompose((layout) -> readTimes(layout.all(queue)));
    }

    private CompletableFuture<Void> readTimes(List<Partition> partitions) {
        List<CompletableFuture<?>> first = new ArrayList<>();
        for (Partition partition : partitions) {
            Reading reading = this.readings.get(partition);
            if (reading == null || System.nanoTime() - reading.readAt() > REFRESH.toNanos()) {
                CompletableFuture<Void> read = read(partition);
                if (reading == null && !this.tried.contains(partition)) {
                    first.add(read);
                }
            }
        }
        return CompletableFuture.allOf(first.toArray(CompletableFuture[]::new))
            .thenRun(() -> this.tried.addAll(partitions));
    }

    private static Reading reading(long before, long after, Instant now) {
        return new Reading(before, after, now.toEpochMilli(), after);
    }

    /** Reads the time of a partition; callers that do so meanwhile share one read. */
    private CompletableFuture<Void> read(Partition partition) {
        CompletableFuture<Void> started = new CompletableFuture<>();
        CompletableFuture<Void> present = this.reading.putIfAbsent(partition, started);
        if (present != null) {
            return present;
        }
        long before = System.nanoTime();
        StoreFutures.send(() -> this.layouts.now(partition)).whenComplete((now, failure) -> {
            if (failure == null) {
                this.readings.put(partition, reading(before, System.nanoTime(), now));
            }
            this.reading.remove(partition);
            started.complete(null);
        });
        return started;
    }

    /**
     * Returns the time of a prepared partition at a moment, or a little earlier, in
     * milliseconds since the epoch.
     * @param nanos the moment, of the monotonic clock
     * @throws StoreUnavailableException if its last call failed
     */
    long millis(Partition partition, long nanos) {
        Reading reading = reading(partition);
        return reading.millis() + Math.floorDiv(nanos - reading.after(), MILLI) - 1;
    }

    /**
     * Returns the time of a prepared partition at a moment, or a little later, in
     * milliseconds since the epoch.
     * @param nanos the moment, of the monotonic clock
     * @throws StoreUnavailableException if its last call failed
     */
    long millisOrLater(Partition partition, long nanos) {
        Reading reading = reading(partition);
        return reading.millis() + Math.floorDiv(nanos - reading.before(), MILLI) + 1;
    }

    private Reading reading(Partition partition) {
        Reading reading = this.readings.get(partition);
        if (reading == null) {
            throw new StoreUnavailableException(
                    "The time of partition %s is not known; nothing was changed".formatted(partition), Effect.NONE,
                    null);
        }
        return reading;
    }

    /**
     * Reads the times of a queue again soon, whose store may be another one now. Until
     * then the last ones are used: the clocks of servers are about the same.
     */
    void distrust(QueueName queue) {
        long old = System.nanoTime() - 2 * REFRESH.toNanos();
        this.readings
            .replaceAll((partition, known) -> partition.queue().equals(queue) ? known.readAgainAfter(old) : known);
    }

    /**
     * Holds what the store returned.
     *
     * @param before the monotonic clock before the call
     * @param after the monotonic clock after the answer
     * @param millis the time of the store, in milliseconds since the epoch
     * @param readAt the monotonic clock, from which the reading gets old
     */
    private record Reading(long before, long after, long millis, long readAt) {

        Reading readAgainAfter(long old) {
            return new Reading(this.before, this.after, this.millis, old);
        }

    }

}
