package io.delayqueue.web.consume;

import java.time.Duration;
import java.util.function.IntFunction;

import io.delayqueue.store.ExpiryPolicy;

/**
 * How messages of a queue are handed to those that claim over HTTP.
 *
 * @param lease how long a message is the caller's who does not say
 * @param maxAttempts failures after which a message is dead
 * @param maxLapses recorded starts that ended in a lapse after which a message is dead
 * @param expired what becomes of a message past its time to live
 * @param safetyPoll longest time between two looks while somebody waits
 * @param backoff wait before the next attempt, by failures so far
 */
public record ConsumeSettings(Duration lease, int maxAttempts, int maxLapses, ExpiryPolicy expired, Duration safetyPoll,
        IntFunction<Duration> backoff) {
}
