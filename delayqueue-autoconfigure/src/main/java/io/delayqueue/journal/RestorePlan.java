package io.delayqueue.journal;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * Selects the messages of a restore, its rate, and whether it only counts. Immutable;
 * each method returns a copy with one more restriction. <pre class="code">
 * operations.restore(RestorePlan.all().queue("orders").rate(1000));
 * </pre>
 *
 * @param queue the only queue; {@code null} for all
 * @param id the only message; {@code null} for all
 * @param dueBefore restores messages that are due before this time; {@code null} for all
 * @param includeExpired whether messages whose time to live is over are restored; they
 * then end as expired ones do
 * @param rate maximum number of messages in a second; 0 for no limit
 * @param dryRun whether messages are counted only
 */
public record RestorePlan(@Nullable String queue, @Nullable String id, @Nullable Instant dueBefore,
        boolean includeExpired, int rate, boolean dryRun) {

    private static final Instant LATEST = Instant.ofEpochMilli(Long.MAX_VALUE);

    /** Rejects a negative rate. Moves times to the range in milliseconds since 1970. */
    public RestorePlan {
        if (dueBefore != null) {
            dueBefore = dueBefore.isBefore(Instant.EPOCH) ? Instant.EPOCH
                    : dueBefore.isAfter(LATEST) ? LATEST : dueBefore;
        }
        if (rate < 0) {
            throw new IllegalArgumentException("Rate %d is negative: messages in a second, or 0".formatted(rate));
        }
    }

    /** Returns a plan for all messages that have not expired, as fast as possible. */
    public static RestorePlan all() {
        return new RestorePlan(null, null, null, false, 0, false);
    }

    public RestorePlan queue(String only) {
        return new RestorePlan(only, this.id, this.dueBefore, this.includeExpired, this.rate, this.dryRun);
    }

    public RestorePlan id(String only) {
        return new RestorePlan(this.queue, only, this.dueBefore, this.includeExpired, this.rate, this.dryRun);
    }

    public RestorePlan dueBefore(Instant time) {
        return new RestorePlan(this.queue, this.id, time, this.includeExpired, this.rate, this.dryRun);
    }

    /** Includes messages whose time to live is over. */
    public RestorePlan withExpired() {
        return new RestorePlan(this.queue, this.id, this.dueBefore, true, this.rate, this.dryRun);
    }

    /** Limits the number of messages in a second. */
    public RestorePlan rate(int messages) {
        return new RestorePlan(this.queue, this.id, this.dueBefore, this.includeExpired, messages, this.dryRun);
    }

    /** Counts the messages, and changes nothing. */
    public RestorePlan asDryRun() {
        return new RestorePlan(this.queue, this.id, this.dueBefore, this.includeExpired, this.rate, true);
    }

}
