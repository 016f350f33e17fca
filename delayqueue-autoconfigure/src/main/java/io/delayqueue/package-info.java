/**
 * Contains the API for applications: {@link io.delayqueue.DelayQueueOperations} to send,
 * {@link io.delayqueue.DelayedListener} to handle, and their value types. Start at
 * {@code DelayQueueOperations}; {@code io.delayqueue.template.DelayQueueTemplate} is the
 * bean that implements it.
 * <p>
 * This package does not depend on Redis or on other packages of this library. All times
 * that decide when something happens are those of the store, never of this JVM.
 */
@NullMarked
package io.delayqueue;

import org.jspecify.annotations.NullMarked;
