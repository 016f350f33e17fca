/**
 * Polls partitions, dispatches messages to handlers and settles their leases. Start at
 * {@code PollLoop}, which exists once for each listener, queue and partition;
 * {@code PollSchedule} says when it polls, and {@code DeliveryProcessor} handles one
 * message.
 */
@NullMarked
package io.delayqueue.listener.poll;

import org.jspecify.annotations.NullMarked;
