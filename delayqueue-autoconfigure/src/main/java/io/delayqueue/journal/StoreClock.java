package io.delayqueue.journal;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.delayqueue.QueueName;
import io.delayqueue.store.routing.PartitionLayouts;

/**
 * Estimates the time of the store from the last time that it returned and the monotonic
 * clock of this process, unless it was set since. Reads the time of a queue once in a
 * while, and after a failure. Thread-safe; methods may wait for the store.
 */
final class StoreClock {

    private static final long MILLI = 1_000_000;

    private static final Duration REFRESH = Duration.ofSeconds(30);

    private final PartitionLayouts layouts;

    private final Map<QueueName, Reading> readings = new ConcurrentHashMap<>();

    StoreClock(PartitionLayouts layouts) {
        this.layouts = layouts;
    }

    /**
     * Returns the store's time at a moment, or a little earlier, in milliseconds since
     * the epoch.
     * @param nanos the moment, of the monotonic clock
     * @throws java.util.concurrent.CompletionException if the store does not answer
     */
    long millis(QueueName queue, long nanos) {
        Reading reading = reading(queue, nanos);
        return reading.millis() + Math.floorDiv(nanos - reading.after(), MILLI) - 1;
    }

    /**
     * Returns the store's time at a moment, or a little later, in milliseconds since the
     * epoch.
     * @param nanos the moment, of the monotonic clock
     * @throws java.util.concurrent.CompletionException if the store does not answer
     */
    long millisOrLater(QueueName queue, long nanos) {
        Reading reading = reading(queue, nanos);
        return reading.millis() + Math.floorDiv(nanos - reading.before(), MILLI) + 1;
    }

    private Reading reading(QueueName queue, long nanos) {
        Reading reading = this.readings.get(queue);
        if (reading == null || nanos - reading.after() > REFRESH.toNanos()) {
            long before = System.nanoTime();
            long millis = this.layouts.now(queue).join().toEpochMilli();
            reading = new Reading(before, System.nanoTime(), millis);
            this.readings.put(queue, reading);
        }
        return reading;
    }

    /** Forgets the time of a queue, whose store may be another one now. */
    void forget(QueueName queue) {
        this.readings.remove(queue);
    }

    /**
     * Holds what the store returned.
     *
     * @param before the monotonic clock before the call
     * @param after the monotonic clock after the answer
     * @param millis the time of the store, in milliseconds since the epoch
     */
    private record Reading(long before, long after, long millis) {
    }

}
