package io.delayqueue.template;

import java.time.Duration;

import io.delayqueue.MessageLimits;
import io.delayqueue.store.ExpiryPolicy;

/**
 * Holds the settings for receiving messages of a queue.
 *
 * @param lease how long a received message is leased to the caller
 * @param maxAttempts failures after which a message is dead-lettered, at least 1
 * @param maxLapses lapses after a recorded start until a message is dead-lettered, at
 * least 1
 * @param expired how to treat a message past its time to live
 * @param safetyPoll longest time between two polls while a caller waits
 */
public record ReceiveSettings(Duration lease, int maxAttempts, int maxLapses, ExpiryPolicy expired,
        Duration safetyPoll) {

    public ReceiveSettings {
        MessageLimits.requirePositive("Lease", lease);
        MessageLimits.requirePositive("Safety poll", safetyPoll);
        if (maxAttempts < 1 || maxLapses < 1) {
            throw new IllegalArgumentException("Maximum of attempts %d and of lapses %d are not valid: use at least 1"
                .formatted(maxAttempts, maxLapses));
        }
    }

}
