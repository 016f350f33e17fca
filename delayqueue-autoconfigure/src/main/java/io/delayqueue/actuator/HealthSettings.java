package io.delayqueue.actuator;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * When a delay queue is not well.
 *
 * @param maxDueAge how long a message may wait for a handler after its time has come;
 * {@code null} for ever
 * @param limit how long to wait for the store: probes give up after a second or so
 * @param maxSilence how long the store may not have answered before it counts as away
 */
public record HealthSettings(@Nullable Duration maxDueAge, Duration limit, Duration maxSilence) {
}
