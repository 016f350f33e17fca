package io.delayqueue.autoconfigure;

import java.time.Duration;

import io.delayqueue.MessageLimits;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Holds the settings of observations. Only Spring Boot constructs this record: a later
 * version may add components.
 *
 * @param enabled Whether sends and handlers are observed, and traces are propagated in
 * the headers of messages.
 * @param linkAfter Age of a message from which its handler starts a trace of its own,
 * with a link to the send.
 */
@ConfigurationProperties("delayqueue.observation")
record DelayQueueObservationProperties(@DefaultValue("false") boolean enabled, @DefaultValue("1h") Duration linkAfter) {

    DelayQueueObservationProperties {
        if (linkAfter.isNegative()) {
            throw new IllegalArgumentException("delayqueue.observation.link-after must be zero or more, but was "
                    + MessageLimits.describe(linkAfter));
        }
    }

}
