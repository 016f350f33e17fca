/**
 * What an application uses: {@link io.delayqueue.DelayQueueOperations} to send,
 * {@link io.delayqueue.DelayedListener} to handle, and the values both speak in. Start at
 * {@code DelayQueueOperations}; {@code io.delayqueue.template.DelayQueueTemplate} is the
 * bean behind it.
 * <p>
 * Nothing here depends on Redis or on another package of this library. Times that decide
 * when something happens are the store's, never this JVM's.
 */
@NullMarked
package io.delayqueue;

import org.jspecify.annotations.NullMarked;
