package io.delayqueue.autoconfigure;

import java.time.Duration;

import io.delayqueue.MessageLimits;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Holds the settings of the health contributor. Only Spring Boot constructs this record:
 * a later version may add components.
 *
 * @param maxDueAge How long a message may be due without being claimed before the queue
 * counts as unhealthy; zero for no limit.
 */
@ConfigurationProperties("delayqueue.health")
record DelayQueueHealthProperties(@DefaultValue("10m") Duration maxDueAge) {

    DelayQueueHealthProperties {
        if (maxDueAge.isNegative() || maxDueAge.compareTo(MessageLimits.MAX_DURATION) > 0) {
            throw new IllegalArgumentException("delayqueue.health.max-due-age must be zero to %d days, but was %s"
                .formatted(MessageLimits.MAX_DURATION.toDays(), MessageLimits.describe(maxDueAge)));
        }
    }

}
