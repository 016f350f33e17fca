package io.delayqueue.listener.poll;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.Lease;

/**
 * Holds a message claimed by this process, and the state of its lease as this process
 * knows it.
 * <p>
 * <strong>Threads.</strong> Created by a loop, handled by one handler thread, renewed by
 * the {@link LeaseRenewer}, and read by any thread.
 */
final class InFlightMessage {

    /** Maximum lateness in seconds, about a century; avoids an overflow. */
    private static final long MAX_SECONDS = 3_000_000_000L;

    private final ClaimedMessage message;

    private final Times times;

    private final HandlerTask task;

    /** The time for which the loop leases and renews, ns. */
    private final long usualLease;

    /** Written under the lock of this object. */
    private volatile long deadline;

    /** When a jump of the store's clock was last detected; guarded by this object. */
    private long jumpNoticedAt;

    private volatile long renewedAt;

    private volatile boolean renewable = true;

    private volatile boolean settling;

    private volatile boolean lost;

    private final AtomicBoolean lossReported = new AtomicBoolean();

    /** Creates a message that its handler receives alone. */
    InFlightMessage(ClaimedMessage message, Times times, Duration leaseTime) {
        this(message, times, leaseTime, new HandlerTask());
    }

    /** Creates a message and adds it to the task of its handler. */
    InFlightMessage(ClaimedMessage message, Times times, Duration leaseTime, HandlerTask task) {
        this.message = message;
        this.task = task;
        this.times = times;
        this.usualLease = Nanos.of(leaseTime);
        this.deadline = times.sentAt() + this.usualLease;
        this.jumpNoticedAt = times.sentAt();
        this.renewedAt = times.sentAt();
        task.add(this);
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
        long seconds = Math.max(-MAX_SECONDS, Math.min(MAX_SECONDS, then.getEpochSecond() - dueAt.getEpochSecond()));
        return Math.max(0,
                TimeUnit.SECONDS.toNanos(seconds) + then.getNano() - dueAt.getNano() + (now - this.times.answeredAt()));
    }

    /** Returns the task that hands it to its handler. */
    HandlerTask task() {
        return this.task;
    }

    boolean isLive(long now) {
        return !this.lost && this.deadline - now > 0;
    }

    long nanosLeft(long now) {
        return this.deadline - now;
    }

    /**
     * Records a renewal, which never shortens a lease. Ignores a renewal that was sent
     * before a jump of the store's clock was detected, as the clock may have jumped after
     * it. A renewal for less than the usual time, by the handler, does not delay the next
     * one of the loop.
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
        long asOf = sentAt - Math.max(0, this.usualLease - Nanos.of(leaseTime));
        if (asOf - this.renewedAt > 0) {
            this.renewedAt = asOf;
        }
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
    boolean reportLoss() {
        return this.lossReported.compareAndSet(false, true);
    }

    /**
     * Holds the time of the claim: when it was sent and answered by this process' clock,
     * and when it was answered by the store's clock.
     */
    record Times(long sentAt, long answeredAt, Instant storeTime) {
    }

}
