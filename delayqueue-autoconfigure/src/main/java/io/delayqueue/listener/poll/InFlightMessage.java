package io.delayqueue.listener.poll;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.Lease;

/**
 * Holds a message claimed by this process, and the state of its lease as far as known.
 * <p>
 * <strong>Threads.</strong> Created by a loop, handled by one handler thread, renewed by
 * the {@link LeaseRenewer}, and read by any thread. The stage decides once which thread
 * continues: the handler thread that starts it or the loop that gives it back.
 */
final class InFlightMessage {

    /** Maximum lateness in seconds, about a century; avoids an overflow. */
    private static final long LONGEST = 3_000_000_000L;

    private final ClaimedMessage message;

    private final Times times;

    private final AtomicReference<Stage> stage = new AtomicReference<>(Stage.CLAIMED);

    /** Written under the lock of this object. */
    private volatile long deadline;

    /** When a jump of the store's clock was last detected; guarded by this object. */
    private long jumpNoticedAt;

    private volatile long handedOutAt;

    private volatile long renewedAt;

    private volatile boolean renewable = true;

    private volatile boolean settling;

    private volatile boolean lost;

    private final AtomicBoolean refused = new AtomicBoolean();

    InFlightMessage(ClaimedMessage message, Times times, Duration leaseTime) {
        this.message = message;
        this.times = times;
        this.deadline = times.sentAt() + Nanos.of(leaseTime);
        this.jumpNoticedAt = times.sentAt();
        this.renewedAt = times.sentAt();
    }

    ClaimedMessage message() {
        return this.message;
    }

    Lease lease() {
        return this.message.lease();
    }

    int attempt() {
        return this.message.failures() + 1;
    }

    /** Returns the store's time: its time at the claim plus the time since then. */
    Instant storeTime(long now) {
        return this.times.storeTime().plusNanos(now - this.times.answeredAt());
    }

    /** Returns how late it is in nanoseconds, by the store's clock; never negative. */
    long lateness(long now) {
        Instant then = this.times.storeTime();
        Instant dueAt = this.message.dueAt();
        long seconds = Math.max(-LONGEST, Math.min(LONGEST, then.getEpochSecond() - dueAt.getEpochSecond()));
        return Math.max(0,
                TimeUnit.SECONDS.toNanos(seconds) + then.getNano() - dueAt.getNano() + (now - this.times.answeredAt()));
    }

    /** Records when a handler thread took it. */
    void handedOut(long now) {
        this.handedOutAt = now;
    }

    long handedOutAt() {
        return this.handedOutAt;
    }

    /** Marks it as started; at most one caller gets {@code true} and handles it. */
    boolean begin() {
        return this.stage.compareAndSet(Stage.CLAIMED, Stage.STARTED);
    }

    /** Marks it as given back; returns whether the caller must release its lease. */
    boolean giveBack() {
        return this.stage.compareAndSet(Stage.CLAIMED, Stage.GIVEN_BACK);
    }

    boolean isGivenBack() {
        return this.stage.get() == Stage.GIVEN_BACK;
    }

    boolean isLive(long now) {
        return !this.lost && this.deadline - now > 0;
    }

    /** Returns the nanoseconds until the lease runs out. */
    long nanosLeft(long now) {
        return this.deadline - now;
    }

    /**
     * Records a renewal, which never shortens a lease. Ignores a renewal that was sent
     * before a jump of the store's clock was detected, as the clock may have jumped after
     * it.
     * @param sentAt the time before the call was sent
     */
    synchronized void renewed(long sentAt, Duration leaseTime) {
        if (sentAt - this.jumpNoticedAt < 0) {
            return;
        }
        long until = sentAt + Nanos.of(leaseTime);
        if (until - this.deadline > 0) {
            this.deadline = until;
        }
        this.renewedAt = sentAt;
    }

    /** Shortens the lease after a forward jump of the store's clock. */
    synchronized void shorten(Duration by, long now) {
        this.jumpNoticedAt = now;
        if (this.deadline - now > 0) {
            this.deadline -= Nanos.of(by);
        }
    }

    /** Returns whether to renew it, given the age at which renewals are due. */
    boolean isRenewalDue(long now, long age) {
        return this.renewable && !this.settling && !this.lost && now - this.renewedAt >= age;
    }

    /** Stops renewing the lease, which then runs out. */
    void stopRenewing() {
        this.renewable = false;
    }

    /**
     * Records whether a settlement is in progress. The store may reject a renewal that
     * arrives after the settlement; such a rejection is ignored.
     */
    void settling(boolean underWay) {
        this.settling = underWay;
    }

    /**
     * Records that the store rejected a renewal.
     * @return {@code false} if the rejection is to be ignored, or was recorded before
     */
    boolean lose() {
        if (this.settling || this.lost) {
            return false;
        }
        this.lost = true;
        return true;
    }

    /** Records a rejection by the store; returns whether it is the first one. */
    boolean refused() {
        return this.refused.compareAndSet(false, true);
    }

    private enum Stage {

        CLAIMED, STARTED, GIVEN_BACK

    }

    /**
     * Holds the time of the claim, by both clocks.
     *
     * @param sentAt this process' clock before the claim was sent
     * @param answeredAt this process' clock when the answer arrived
     * @param storeTime the store's clock when it answered
     */
    record Times(long sentAt, long answeredAt, Instant storeTime) {
    }

}
