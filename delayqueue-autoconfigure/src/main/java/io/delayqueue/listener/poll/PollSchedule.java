package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.function.DoubleSupplier;

import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PrimaryPollerBid;
import io.delayqueue.store.WakeUpSignal;
import org.jspecify.annotations.Nullable;

/**
 * Plans when one loop polls its partition: when a message is known to be due, and at
 * least once per safety poll. One node, the primary poller, polls as soon as a message is
 * due. The standby nodes poll a grace later, unless the primary poller has announced its
 * poll by that time, and whenever they have received no announcement for a safety poll.
 * The choice of the primary poller therefore never affects correctness.
 * <p>
 * Times are those of a monotonic clock that begins at zero.
 * <p>
 * <strong>Threads.</strong> The loop polls; signals come from the store's thread. Each
 * method holds the lock briefly.
 */
final class PollSchedule {

    private static final long GRACE = Nanos.of(PrimaryPollerBid.GRACE);

    /** Keeps standby nodes out of step, and behind the primary poller. */
    private static final double GRACE_JITTER = 0.4;

    /** Without a primary poller, lets one node poll first and notify the others. */
    private static final long VACANCY_JITTER = Nanos.of(Duration.ofMillis(10));

    /** The shortest time between two polls that the primary poller announces. */
    private static final long CONFIRMATION_PAUSE = Nanos.of(Duration.ofMillis(100));

    /** The primary poller announces a poll before the grace of standby nodes is over. */
    private static final long LONGEST_SILENCE = GRACE / 2;

    /** Makes the primary poller poll early enough to notify the others in time. */
    private static final double KEEPERS_SAFETY_POLL = 0.85;

    private static final double SAFETY_POLL_JITTER = 0.1;

    private static final long NEVER = Long.MAX_VALUE;

    private final Partition partition;

    private final @Nullable PrimaryPartitions kept;

    private final DoubleSupplier random;

    private final long keepersPoll;

    private final long followersPoll;

    private Role role;

    /** Whether messages may have been missed; polls as soon as permits are free. */
    private boolean pending = true;

    /** The earliest time at which a message is known to be due. */
    private long known = NEVER;

    /** The earliest due time learned since the current poll began. */
    private long knownSince = NEVER;

    /** How long after the known time to poll. */
    private long delay;

    /**
     * Whether more messages are due than the last poll could claim; then no node waits
     * for another.
     */
    private boolean behind;

    /** When this node or the primary poller last polled. */
    private long looked;

    private long bidAt = -CONFIRMATION_PAUSE;

    private long untoldSince = NEVER;

    private long shareAt = NEVER;

    /**
     * Creates a schedule whose first poll is due at once.
     * @param partition the partition to poll
     * @param safetyPoll longest time between two polls
     * @param kept the partitions whose primary poller is this node; {@code null} if the
     * store does not announce primary pollers, so that all nodes poll when a message is
     * due
     * @param random returns numbers from 0 to 1
     */
    PollSchedule(Partition partition, Duration safetyPoll, @Nullable PrimaryPartitions kept, DoubleSupplier random) {
        this.partition = partition;
        this.kept = kept;
        this.random = random;
        this.role = (kept != null) ? Role.VACANT : Role.KEEPER;
        double poll = Nanos.of(safetyPoll);
        this.keepersPoll = (long) (poll * (KEEPERS_SAFETY_POLL - SAFETY_POLL_JITTER * random.getAsDouble() / 2));
        this.followersPoll = (long) (poll * (1 - SAFETY_POLL_JITTER * random.getAsDouble() / 2));
    }

    /** Returns when to poll next, if permits are free. */
    synchronized long nextAt() {
        if (this.pending) {
            return 0;
        }
        long poll = (this.role == Role.KEEPER) ? this.keepersPoll : this.followersPoll;
        long at = Math.min(after(this.known, this.behind ? 0 : this.delay), this.looked + poll);
        at = Math.min(at, after(this.untoldSince, LONGEST_SILENCE));
        return Math.min(at, this.shareAt);
    }

    private static long after(long time, long span) {
        return (time == NEVER) ? NEVER : time + span;
    }

    synchronized boolean isKeeper() {
        return this.kept != null && this.role == Role.KEEPER;
    }

    /** Processes a signal and returns whether it makes the next poll earlier. */
    synchronized boolean heard(WakeUpSignal signal, long now) {
        long before = nextAt();
        switch (signal.kind()) {
            case LOOK -> this.pending = true;
            case DUE -> know(now + span(signal.in()));
            case KEPT -> kept(signal, now);
            case VACANT -> vacant();
        }
        return nextAt() < before;
    }

    private void know(long due) {
        this.known = Math.min(this.known, due);
        this.knownSince = Math.min(this.knownSince, due);
    }

    private static long span(@Nullable Duration in) {
        return (in != null) ? Nanos.of(in) : 0;
    }

    private void kept(WakeUpSignal signal, long now) {
        WakeUpSignal.Keeper keeper = signal.keeper();
        if (this.kept == null || keeper == null) {
            return;
        }
        if (keeper.node().equals(this.kept.node())) {
            become(Role.KEEPER);
            return;
        }
        long before = after(this.known, this.behind ? 0 : this.delay);
        become(Role.FOLLOWER);
        this.looked = now;
        this.behind = signal.in() != null && span(signal.in()) <= 0;
        // Excess messages are due for all nodes; this never delays a poll.
        this.known = this.behind ? Math.min(before, now + jitter())
                : (signal.in() != null) ? now + span(signal.in()) : NEVER;
        if (keeper.load() >= this.kept.count() + 2 && this.kept.takeOne()) {
            this.shareAt = now + (long) (LONGEST_SILENCE * this.random.getAsDouble());
        }
    }

    private void vacant() {
        if (this.kept != null && this.role != Role.VACANT) {
            become(Role.VACANT);
        }
    }

    private void become(Role role) {
        if (this.kept != null && this.role != role) {
            if (role == Role.KEEPER) {
                this.kept.add(this.partition);
            }
            else if (this.role == Role.KEEPER) {
                this.kept.remove(this.partition);
            }
            this.role = role;
            this.shareAt = NEVER;
            this.untoldSince = NEVER;
        }
        this.delay = switch (this.role) {
            case KEEPER -> 0;
            case VACANT -> jitter();
            case FOLLOWER -> (long) (GRACE * (1 + GRACE_JITTER * this.random.getAsDouble()));
        };
    }

    private long jitter() {
        return (long) (VACANCY_JITTER * this.random.getAsDouble());
    }

    /** Begins a poll; returns the bid to send along, {@code null} for none. */
    synchronized @Nullable PrimaryPollerBid look(long now) {
        this.pending = false;
        this.knownSince = NEVER;
        boolean share = this.shareAt <= now;
        this.shareAt = NEVER;
        if (this.kept == null) {
            return null;
        }
        boolean keeper = this.role == Role.KEEPER;
        if (now - this.bidAt < CONFIRMATION_PAUSE && !share && this.role != Role.VACANT) {
            if (keeper) {
                this.untoldSince = Math.min(this.untoldSince, now);
            }
            return keeper ? this.kept.bid(PrimaryPollerBid.Kind.HOLD, 0) : null;
        }
        this.bidAt = now;
        return this.kept.bid(share ? PrimaryPollerBid.Kind.SHARE : PrimaryPollerBid.Kind.CONFIRM,
                this.kept.others(this.partition));
    }

    /** Ends a poll that the store has answered. */
    synchronized void found(ClaimResult claim, @Nullable PrimaryPollerBid bid, long at) {
        this.looked = at;
        Duration nextIn = claim.nextIn();
        this.behind = nextIn != null && nextIn.isZero();
        this.known = Math.min(this.knownSince, (nextIn != null) ? at + Nanos.of(nextIn) : NEVER);
        if (bid != null && bid.kind() != PrimaryPollerBid.Kind.HOLD) {
            become(claim.keeper() ? Role.KEEPER : Role.FOLLOWER);
            this.untoldSince = NEVER;
        }
    }

    /** Ends a failed poll, which is repeated. */
    synchronized void failed() {
        this.pending = true;
    }

    /** Resigns as primary poller; this node still polls before the others if it can. */
    synchronized void resign() {
        become(Role.VACANT);
        this.delay = 0;
    }

    /** Names the role of this node for the partition. */
    private enum Role {

        KEEPER, FOLLOWER, VACANT

    }

}
