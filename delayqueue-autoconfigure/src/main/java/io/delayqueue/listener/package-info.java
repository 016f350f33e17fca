/**
 * Runs the application's handlers. Start at
 * {@link io.delayqueue.listener.TransferWorker}, then read {@code PollLoop} (what is
 * claimed when) and {@code DeliveryProcessor} (what becomes of one message);
 * {@code LeaseKeeper} prolongs leases meanwhile.
 * {@link io.delayqueue.listener.DelayedListenerAnnotationBeanPostProcessor} finds the
 * handlers, {@code HandlerMethodAdapter} calls them.
 * <p>
 * Threads: loops have none, see {@code Alarm}; handler threads, of which {@code Handlers}
 * bounds the number; one timer for the process; and up to eight for turns and renewals
 * where calls of the store wait. Each class that several of them use says so under
 * <strong>Threads</strong>. Spans are measured by {@link java.lang.System#nanoTime()},
 * and what time it is only the store knows.
 */
@NullMarked
package io.delayqueue.listener;

import org.jspecify.annotations.NullMarked;
