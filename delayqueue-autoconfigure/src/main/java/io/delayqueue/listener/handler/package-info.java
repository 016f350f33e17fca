/**
 * Invokes the annotated method of a bean with a message. Start at
 * {@code HandlerMethodAdapter}.
 */
@NullMarked
package io.delayqueue.listener.handler;

import org.jspecify.annotations.NullMarked;
