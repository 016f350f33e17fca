package io.delayqueue.store;

import java.time.Instant;

/**
 * Holds a lease and the due time of the attempt that it was given for.
 *
 * @param lease the lease
 * @param dueAt the due time as returned by the claim
 */
public record UnstartedLease(Lease lease, Instant dueAt) {
}
