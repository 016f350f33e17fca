package io.delayqueue.actuator;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Holds the limits of the health check.
 *
 * @param maxDueAge how long a due message may wait for a handler; {@code null} for no
 * limit
 * @param limit how long to wait for the store: probes give up after a second or so
 * @param maxSilence how long the store may not answer before it counts as unavailable
 */
public record HealthSettings(@Nullable Duration maxDueAge, Duration limit, Duration maxSilence) {
}
