/**
 * How it goes with the queues, for those who operate them: meters, health, and the
 * Actuator endpoint. Everything here sleeps unless the application has the library that
 * it tells.
 */
@NullMarked
package io.delayqueue.actuator;

import org.jspecify.annotations.NullMarked;
