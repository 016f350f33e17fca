package io.delayqueue.engine;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * A message that was leased by a claim.
 *
 * @param lease the lease
 * @param dueAt when it was due
 * @param failures handler failures so far
 * @param lapses leases that ran out after a recorded start
 * @param suspect whether its last lease ran out: its start must be recorded before its
 * handler is called, see {@link MessageStore#start}
 * @param expiresAt from when on it must not be handled; {@code null} if never
 * @param group its group; {@code null} for none
 * @param envelope its stored form
 */
public record ClaimedMessage(Lease lease, Instant dueAt, int failures, int lapses, boolean suspect,
        @Nullable Instant expiresAt, @Nullable String group, byte[] envelope) {
}
