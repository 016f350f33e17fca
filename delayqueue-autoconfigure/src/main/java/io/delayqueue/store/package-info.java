/**
 * Defines the ports of a message store, independent of Redis, threads and Spring beans:
 * {@link io.delayqueue.store.MessageStore} (all transitions),
 * {@link io.delayqueue.store.MessageInspector} (all reads) and
 * {@link io.delayqueue.store.WakeUps}, with their value types. Start at
 * {@code MessageStore}.
 * <p>
 * Every implementation of a port must pass the same contract test. Durations are whole
 * milliseconds, rounded up by {@link io.delayqueue.store.DueTime}.
 */
@NullMarked
package io.delayqueue.store;

import org.jspecify.annotations.NullMarked;
