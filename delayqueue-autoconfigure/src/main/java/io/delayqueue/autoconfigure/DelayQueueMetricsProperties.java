package io.delayqueue.autoconfigure;

import java.time.Duration;

import io.delayqueue.MessageLimits;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Holds the settings of the meters. Only Spring Boot constructs this record: a later
 * version may add components.
 *
 * @param enabled Whether meters are registered if Micrometer is present.
 * @param interval Maximum age of the counts of messages before a scrape refreshes them.
 * @param maxQueues Maximum number of queues with meters of their own, those with
 * listeners included. Further queues that this node only sends to share the tag value
 * (other).
 */
@ConfigurationProperties("delayqueue.metrics")
record DelayQueueMetricsProperties(@DefaultValue("true") boolean enabled, @DefaultValue("10s") Duration interval,
        @DefaultValue("1000") int maxQueues) {

    private static final Duration MIN_INTERVAL = Duration.ofMillis(100);

    private static final Duration MAX_INTERVAL = Duration.ofHours(1);

    DelayQueueMetricsProperties {
        if (interval.compareTo(MIN_INTERVAL) < 0 || interval.compareTo(MAX_INTERVAL) > 0) {
            throw new IllegalArgumentException(
                    "delayqueue.metrics.interval must be 100ms to 1h, but was " + MessageLimits.describe(interval));
        }
        if (maxQueues < 0) {
            throw new IllegalArgumentException(
                    "delayqueue.metrics.max-queues must be zero or more, but was " + maxQueues);
        }
    }

}
