package io.delayqueue.autoconfigure;

import java.time.Duration;

import io.delayqueue.MessageLimits;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings of the meters. Only Spring Boot constructs this record: a later version may
 * add components.
 *
 * @param enabled Whether to count and time what happens, where Micrometer is present.
 * @param interval How old the counts of messages in Redis may be before a scrape has them
 * read anew.
 * @param maxQueues How many queues that this node only sends to have meters of their own.
 * The rest share those with the tag value (other).
 */
@ConfigurationProperties("delayqueue.metrics")
record DelayQueueMetricsProperties(@DefaultValue("true") boolean enabled, @DefaultValue("10s") Duration interval,
        @DefaultValue("1000") int maxQueues) {

    private static final Duration SHORTEST = Duration.ofMillis(100);

    private static final Duration LONGEST = Duration.ofHours(1);

    DelayQueueMetricsProperties {
        if (interval.compareTo(SHORTEST) < 0 || interval.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException(
                    "delayqueue.metrics.interval must be 100ms to 1h, but was " + MessageLimits.describe(interval));
        }
        if (maxQueues < 0) {
            throw new IllegalArgumentException(
                    "delayqueue.metrics.max-queues must be zero or more, but was " + maxQueues);
        }
    }

}
