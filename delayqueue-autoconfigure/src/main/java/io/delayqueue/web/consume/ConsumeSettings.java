package io.delayqueue.web.consume;

import java.time.Duration;
import java.util.function.IntFunction;

import io.delayqueue.store.ExpiryPolicy;

/**
 * Holds the settings of a queue for HTTP consumers.
 *
 * @param lease default lease of a claim
 * @param maxAttempts failures after which a message is dead-lettered
 * @param maxLapses recorded starts that ended in a lapse, after which a message is
 * dead-lettered
 * @param expired what happens to a message past its time to live
 * @param safetyPoll longest time between two polls while a request waits
 * @param backoff delay before the next attempt, by the number of failures
 */
public record ConsumeSettings(Duration lease, int maxAttempts, int maxLapses, ExpiryPolicy expired, Duration safetyPoll,
        IntFunction<Duration> backoff) {
}
