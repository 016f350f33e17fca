/**
 * Polls partitions, dispatches messages to handlers and settles their leases.
 */
@NullMarked
package io.delayqueue.listener.poll;

import org.jspecify.annotations.NullMarked;
