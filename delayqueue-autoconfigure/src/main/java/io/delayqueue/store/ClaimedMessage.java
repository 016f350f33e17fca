package io.delayqueue.store;

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

    private static final byte[] NOTHING = new byte[0];

    /** What is needed to give it back if its attempt is not begun. */
    public DueLease dueLease() {
        return new DueLease(this.lease, this.dueAt);
    }

    /** The same without its content, for who has read that. */
    public ClaimedMessage withoutEnvelope() {
        return new ClaimedMessage(this.lease, this.dueAt, this.failures, this.lapses, this.suspect, this.expiresAt,
                this.group, NOTHING);
    }

    /**
     * Why nobody shall have it any more; {@code null} if somebody may.
     * @param maxLapses lapses after which a message is dead
     * @param maxAttempts failures after which a message is dead
     */
    public @Nullable String deathBy(int maxLapses, int maxAttempts) {
        if (this.lapses >= maxLapses) {
            return "Its lease ran out %s after it had started (max-lapses is %d)"
                .formatted(Texts.count(this.lapses, "time"), maxLapses);
        }
        if (this.failures >= maxAttempts) {
            return "It has failed %s (max-attempts is %d)".formatted(Texts.count(this.failures, "time"), maxAttempts);
        }
        return null;
    }
}
