package io.delayqueue.store;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * Holds a message that was leased by a claim.
 *
 * @param lease the lease
 * @param dueAt when it was due
 * @param failures previous handler failures
 * @param lapses leases that ran out after the start of the handler was recorded
 * @param redelivered whether it is redelivered because its last lease ran out: the start
 * must be recorded before the handler is called, see {@link MessageStore#start}
 * @param expiresAt when it expires and must no longer be handled; {@code null} if never
 * @param group its group; {@code null} for none
 * @param envelope its stored form
 * @param revision its row in a journal; 0 if there is none
 */
public record ClaimedMessage(Lease lease, Instant dueAt, int failures, int lapses, boolean redelivered,
        @Nullable Instant expiresAt, @Nullable String group, byte[] envelope, long revision) {

    private static final byte[] NOTHING = new byte[0];

    /** Creates a message without a row in a journal. */
    public ClaimedMessage(Lease lease, Instant dueAt, int failures, int lapses, boolean redelivered,
            @Nullable Instant expiresAt, @Nullable String group, byte[] envelope) {
        this(lease, dueAt, failures, lapses, redelivered, expiresAt, group, envelope, 0);
    }

    /** Returns the data needed to release it if its attempt is not started. */
    public UnstartedLease unstartedLease() {
        return new UnstartedLease(this.lease, this.dueAt);
    }

    /** Returns a copy without the content, for callers that have read it. */
    public ClaimedMessage withoutEnvelope() {
        return new ClaimedMessage(this.lease, this.dueAt, this.failures, this.lapses, this.redelivered, this.expiresAt,
                this.group, NOTHING, this.revision);
    }

    /**
     * Returns why it must be dead-lettered instead of handled; {@code null} if it may be
     * handled.
     * @param maxLapses lapses after which a message is dead-lettered
     * @param maxAttempts failures after which a message is dead-lettered
     */
    public @Nullable String deadLetterCause(int maxLapses, int maxAttempts) {
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
