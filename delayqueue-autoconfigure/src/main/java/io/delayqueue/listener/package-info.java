/**
 * Runs the application's handlers. Start at
 * {@link io.delayqueue.listener.DelayedListenerLifecycle}, then read {@code PollLoop}
 * (when it claims) and {@code DeliveryProcessor} (how a message is handled and settled);
 * {@code LeaseRenewer} renews leases meanwhile.
 * {@link io.delayqueue.listener.DelayedListenerAnnotationBeanPostProcessor} finds the
 * handlers, {@link io.delayqueue.listener.DelayedListenerEndpoint}s are registered by
 * calls, and {@code HandlerMethodAdapter} calls both.
 * <p>
 * Threads: loops have none, see {@code PollLoopScheduler}; handler threads, whose number
 * {@code HandlerConcurrencyLimiter} limits; one timer for the process; and up to eight
 * for iterations and renewals where calls of the store block. Each class that several
 * threads use documents them under <strong>Threads</strong>. Time spans are measured by
 * {@link java.lang.System#nanoTime()}; only the store knows the time of day.
 */
@NullMarked
package io.delayqueue.listener;

import org.jspecify.annotations.NullMarked;
