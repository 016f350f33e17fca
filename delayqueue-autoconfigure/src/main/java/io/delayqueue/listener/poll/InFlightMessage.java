package io.delayqueue.listener.poll;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.Lease;

/**
 * A message claimed by this process, and how long it is this process' as far as it knows.
 * <p>
 * <strong>Threads.</strong> Created by a loop, handled by one handler thread, renewed by
 * the lease keeper, asked by whatever thread the handler likes. The stage decides once
 * who may go on: the handler thread that starts it or the loop that gives it back.
 */
final class InFlightMessage {

    /** Seconds, about a century; no span of nanoseconds is much longer. */
    private static final long LONGEST = 3_000_000_000L;

    private final ClaimedMessage message;

    private final Times times;

    private final AtomicReference<Stage> stage = new AtomicReference<>(Stage.CLAIMED);

    /** Written under the lock of this object. */
    private volatile long deadline;

    /** When a jump of the store's clock was last noticed; guarded by this object. */
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

    /** The store's time, from its time at the claim and the span since. */
    Instant storeTime(long now) {
        return this.times.storeTime().plusNanos(now - this.times.answeredAt());
    }

    /** Nanoseconds since it was due, by the store's clock; never negative. */
    long lateness(long now) {
        Instant then = this.times.storeTime();
        Instant dueAt = this.message.dueAt();
        long seconds = Math.max(-LONGEST, Math.min(LONGEST, then.getEpochSecond() - dueAt.getEpochSecond()));
        return Math.max(0,
                TimeUnit.SECONDS.toNanos(seconds) + then.getNano() - dueAt.getNano() + (now - this.times.answeredAt()));
    }

    /** Notes when a handler thread took it. */
    void handedOut(long now) {
        this.handedOutAt = now;
    }

    long handedOutAt() {
        return this.handedOutAt;
    }

    /** Whether the caller is the one to handle it; at most one caller is told so. */
    boolean begin() {
        return this.stage.compareAndSet(Stage.CLAIMED, Stage.STARTED);
    }

    /** Whether the caller is the one to give it back unhandled. */
    boolean giveBack() {
        return this.stage.compareAndSet(Stage.CLAIMED, Stage.GIVEN_BACK);
    }

    boolean isGivenBack() {
        return this.stage.get() == Stage.GIVEN_BACK;
    }

    boolean isLive(long now) {
        return !this.lost && this.deadline - now > 0;
    }

    /** Time until the lease is over. */
    long nanosLeft(long now) {
        return this.deadline - now;
    }

    /**
     * Notes a renewal, which never shortens a lease. One that was sent before a jump of
     * the store's clock was noticed does not count, as the clock may have jumped after
     * it.
     * @param sentAt before the store was asked
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

    /** Notes that the store's clock jumped forward, so that the lease ends earlier. */
    synchronized void shorten(Duration by, long now) {
        this.jumpNoticedAt = now;
        if (this.deadline - now > 0) {
            this.deadline -= Nanos.of(by);
        }
    }

    /** Whether it is to be renewed if the last renewal is so long ago. */
    boolean isRenewalDue(long now, long age) {
        return this.renewable && !this.settling && !this.lost && now - this.renewedAt >= age;
    }

    /** From here on it is left to run out. */
    void stopRenewing() {
        this.renewable = false;
    }

    /**
     * A settlement is on its way, or has failed. A renewal that crosses one is turned
     * away, and that means nothing.
     */
    void settling(boolean underWay) {
        this.settling = underWay;
    }

    /**
     * Notes that the store turned a renewal away.
     * @return {@code false} if that means nothing, or was noted before
     */
    boolean lose() {
        if (this.settling || this.lost) {
            return false;
        }
        this.lost = true;
        return true;
    }

    /** Notes that the store turned something away; returns whether for the first time. */
    boolean refused() {
        return this.refused.compareAndSet(false, true);
    }

    private enum Stage {

        CLAIMED, STARTED, GIVEN_BACK

    }

    /**
     * When the claim happened, by both clocks.
     *
     * @param sentAt this process' clock before the claim was sent
     * @param answeredAt this process' clock when the answer came
     * @param storeTime the store's clock when it answered
     */
    record Times(long sentAt, long answeredAt, Instant storeTime) {
    }

}
