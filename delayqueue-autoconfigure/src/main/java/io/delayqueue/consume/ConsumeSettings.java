package io.delayqueue.consume;

import java.time.Duration;
import java.util.function.IntFunction;

import io.delayqueue.MessageLimits;
import io.delayqueue.store.ExpiryPolicy;

/**
 * Holds the settings of a queue for callers of {@code receive} and HTTP consumers.
 *
 * @param lease how long a message is leased, unless the caller says otherwise
 * @param maxAttempts failures after which a message is dead-lettered, at least 1
 * @param maxLapses lapses after a recorded start until a message is dead-lettered, at
 * least 1
 * @param expiryPolicy how to treat a message past its time to live
 * @param safetyPoll longest time between two polls while a caller waits
 * @param backoff returns the delay before the next attempt, by the number of failures
 */
public record ConsumeSettings(Duration lease, int maxAttempts, int maxLapses, ExpiryPolicy expiryPolicy,
        Duration safetyPoll, IntFunction<Duration> backoff) {

    public ConsumeSettings {
        MessageLimits.requirePositive("Lease", lease);
        MessageLimits.requirePositive("Safety poll", safetyPoll);
        if (maxAttempts < 1 || maxLapses < 1) {
            throw new IllegalArgumentException("Maximum of attempts %d and of lapses %d are not valid: use at least 1"
                .formatted(maxAttempts, maxLapses));
        }
    }

}
