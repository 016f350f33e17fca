/**
 * The life of a message without Redis, threads or Spring beans: the ports
 * {@link io.delayqueue.engine.MessageStore} (every transition),
 * {@link io.delayqueue.engine.MessageInspector} (every look) and
 * {@link io.delayqueue.engine.WakeUps}, the values they speak in, and the stored form of
 * a message. Start at {@code MessageStore}.
 * <p>
 * Whatever implements a port is held to one contract test. Durations come in whole
 * milliseconds after {@link io.delayqueue.engine.DueTime} has rounded them up.
 */
@NullMarked
package io.delayqueue.store;

import org.jspecify.annotations.NullMarked;
