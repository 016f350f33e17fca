package io.delayqueue.store;

import java.time.Instant;

/**
 * A lease, and when the attempt was due that it was given for.
 *
 * @param lease the lease
 * @param dueAt as the claim answered it
 */
public record DueLease(Lease lease, Instant dueAt) {
}
