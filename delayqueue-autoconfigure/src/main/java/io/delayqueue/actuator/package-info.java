/**
 * Exposes meters, health and an Actuator endpoint for operators. Each is inactive unless
 * the application has the library that it needs. Start at {@code DelayQueueMeter}, the
 * list of all meters, {@code DelayQueueHealthIndicator} or {@code DelayQueueEndpoint}.
 */
@NullMarked
package io.delayqueue.actuator;

import org.jspecify.annotations.NullMarked;
