/**
 * Claims messages for callers that are not listeners, and settles them. Start at
 * {@code QueuePoller}, which polls a queue for waiting requests: {@code receive} of the
 * template makes one for each call and runs it on the caller's thread, the HTTP API one
 * for each queue. {@code MessageClaimer} claims from one partition and leaves out
 * messages that no caller may have; {@code LeaseSettler} settles leases.
 * <p>
 * This package has no threads of its own: a {@code PollerExecutor} runs its work. Nothing
 * here waits for the store.
 */
@NullMarked
package io.delayqueue.consume;

import org.jspecify.annotations.NullMarked;
