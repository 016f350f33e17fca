/**
 * Stores messages in this process: the second adapter of
 * {@link io.delayqueue.store.MessageStore}, {@link io.delayqueue.store.MessageInspector}
 * and {@link io.delayqueue.store.WakeUps}, for unit tests and trials without Redis, and
 * the reference model that the scripts are compared with. Its content ends with the
 * process.
 * <p>
 * Start at {@code InMemoryMessageStore}; {@code MemoryQueue} holds the transitions, in
 * plain Java and with structures of its own, so that it does not share the mistakes of
 * the scripts. It returns the same results and passes the same contract test.
 */
@NullMarked
package io.delayqueue.memory;

import org.jspecify.annotations.NullMarked;
