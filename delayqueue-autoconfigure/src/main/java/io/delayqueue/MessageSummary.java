package io.delayqueue;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * Holds a message as it appears in a list. {@link DelayQueueOperations#find} also returns
 * its payload and headers.
 *
 * @param queue the queue that holds it
 * @param id its id
 * @param state its state; a message with a lapsed lease is shown as already released
 * @param dueAt when it is due; {@code null} while {@link MessageState#LEASED}
 * @param leasedUntil when its lease ends unless renewed, rounded down to a tenth of a
 * second; {@code null} unless {@link MessageState#LEASED}
 * @param expiresAt when it expires and is no longer handled; {@code null} if never
 * @param priority {@value MessageLimits#MIN_PRIORITY} (last) to
 * {@value MessageLimits#MAX_PRIORITY} (first)
 * @param group its group; {@code null} for none
 * @param failures previous handler failures
 * @param lapses leases that ran out after the start of the handler was recorded
 * @param failureReasons its failures; {@code null} if it has not failed
 * @see io.delayqueue.admin.DelayQueueInspector
 */
public record MessageSummary(String queue, String id, MessageState state, @Nullable Instant dueAt,
        @Nullable Instant leasedUntil, @Nullable Instant expiresAt, int priority, @Nullable String group, int failures,
        int lapses, @Nullable FailureReasons failureReasons) {

    /** Hides the exact end of the lease, which serves as its token. */
    private static final int ROUNDED_NANOS = 100_000_000;

    public MessageSummary {
        leasedUntil = rounded(leasedUntil);
    }

    /** Returns the end of a lease as it may be shown. */
    static @Nullable Instant rounded(@Nullable Instant leasedUntil) {
        return (leasedUntil != null) ? leasedUntil.minusNanos(leasedUntil.getNano() % ROUNDED_NANOS) : null;
    }

}
