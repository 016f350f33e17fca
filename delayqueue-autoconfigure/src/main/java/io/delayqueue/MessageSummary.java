package io.delayqueue;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * What a list says of a message; {@link DelayQueueOperations#find} tells its payload and
 * headers.
 *
 * @param queue the queue that holds it
 * @param id its id
 * @param state where it is in its life; of a lease that ran out as if that were noticed
 * @param dueAt when it is due; {@code null} while {@link MessageState#LEASED}
 * @param leasedUntil when its lease ends unless renewed, rounded down to a tenth of a
 * second; {@code null} unless {@link MessageState#LEASED}
 * @param expiresAt from when on it is not handled any more; {@code null} if never
 * @param priority {@value MessageLimits#MIN_PRIORITY} (last) to
 * {@value MessageLimits#MAX_PRIORITY} (first)
 * @param group its group; {@code null} for none
 * @param failures handler failures so far
 * @param lapses times its process vanished while handling it
 */
public record MessageSummary(String queue, String id, MessageState state, @Nullable Instant dueAt,
        @Nullable Instant leasedUntil, @Nullable Instant expiresAt, int priority, @Nullable String group, int failures,
        int lapses) {

    /** The end of a lease also tells it from others of its message, so it is rounded. */
    private static final int ROUNDED_NANOS = 100_000_000;

    public MessageSummary {
        leasedUntil = rounded(leasedUntil);
    }

    /** The end of a lease as it may be shown. */
    static @Nullable Instant rounded(@Nullable Instant leasedUntil) {
        return (leasedUntil != null) ? leasedUntil.minusNanos(leasedUntil.getNano() % ROUNDED_NANOS) : null;
    }

}
