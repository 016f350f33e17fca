package io.delayqueue.template;

import java.time.Duration;

import io.delayqueue.MessageLimits;
import io.delayqueue.store.ExpiryPolicy;

/**
 * How messages of a queue are received.
 *
 * @param lease how long a received message is the caller's
 * @param maxAttempts failures after which a message is dead, at least 1
 * @param maxLapses recorded starts that ended in a lapse after which a message is dead,
 * at least 1
 * @param expired what becomes of a message past its time to live
 * @param safetyPoll longest time between two looks while somebody waits
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
