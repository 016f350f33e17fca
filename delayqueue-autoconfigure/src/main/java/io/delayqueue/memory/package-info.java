/**
 * Keeps messages in this process: the second adapter of
 * {@link io.delayqueue.engine.MessageStore},
 * {@link io.delayqueue.engine.MessageInspector} and {@link io.delayqueue.engine.WakeUps},
 * for unit tests and trials without Redis, and the reference model that the scripts are
 * compared with. What it holds ends with the process.
 * <p>
 * Start at {@code InMemoryMessageStore}; {@code MemoryQueue} holds the transitions, in
 * plain Java and with structures of its own, so that it does not share the mistakes of
 * the scripts. It gives the same answers as they do and passes the same contract test.
 */
@NullMarked
package io.delayqueue.memory;

import org.jspecify.annotations.NullMarked;
