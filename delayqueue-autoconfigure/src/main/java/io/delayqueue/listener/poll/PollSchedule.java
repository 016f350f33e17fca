package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.function.DoubleSupplier;

import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PrimaryPollerBid;
import io.delayqueue.store.WakeUpSignal;
import org.jspecify.annotations.Nullable;

/**
 * Plans when one loop looks into its partition: when a message is known to be due, and
 * from time to time whatever is known. Of several nodes one, the keeper, hurries. The
 * others look a grace later, which they do in vain only if the keeper is away, and
 * whenever they have heard of no look for a safety poll. So who keeps a partition is
 * never a matter of correctness.
 * <p>
 * Times are those of a monotonic clock that begins at zero.
 * <p>
 * <strong>Threads.</strong> The loop looks; signals come from the store's thread. Each
 * method holds the lock, for a moment.
 */
final class PollSchedule {

    private static final long GRACE = Nanos.of(PrimaryPollerBid.GRACE);

    /** Followers stay out of step, and out of the keeper's way. */
    private static final double GRACE_JITTER = 0.4;

    /** While nobody keeps the partition one should look first, and the others hear. */
    private static final long VACANCY_JITTER = Nanos.of(Duration.ofMillis(10));

    /** A keeper tells that it has looked at most so often. */
    private static final long CONFIRMATION_PAUSE = Nanos.of(Duration.ofMillis(100));

    /** Before the grace of the followers is over they hear of a look. */
    private static final long LONGEST_SILENCE = GRACE / 2;

    /** A keeper looks a little earlier, so that the others hear of it in time. */
    private static final double KEEPERS_SAFETY_POLL = 0.85;

    private static final double SAFETY_POLL_JITTER = 0.1;

    private static final long NEVER = Long.MAX_VALUE;

    private final Partition partition;

    private final @Nullable PrimaryPartitions kept;

    private final DoubleSupplier random;

    private final long keepersPoll;

    private final long followersPoll;

    private Role role;

    /** Whether something was missed perhaps: looks as soon as there is room. */
    private boolean pending = true;

    /** The earliest time at which there is something to claim. */
    private long known = NEVER;

    /** The same as far as heard of since the look under way began. */
    private long knownSince = NEVER;

    /** How much later than the known time to look. */
    private long delay;

    /**
     * Whether more is due than who looked last could take: then nobody lets others go
     * first.
     */
    private boolean behind;

    /** When this node or the keeper looked last. */
    private long looked;

    private long bidAt = -CONFIRMATION_PAUSE;

    private long untoldSince = NEVER;

    private long shareAt = NEVER;

    /**
     * Creates one that looks at once.
     * @param partition that it looks into
     * @param safetyPoll longest time between two looks
     * @param kept the partitions that this node keeps; {@code null} where nobody tells of
     * keepers, so that everybody hurries
     * @param random from 0 to 1
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

    /** When to look next, if there is room. */
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

    /** Takes notice of a signal, and returns whether the next look is earlier by it. */
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
        // What the keeper has no room for is everybody's: it never makes a look later.
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

    /** Begins a look. What to say of the keeper along with it; {@code null} nothing. */
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

    /** Ends a look that the store has answered. */
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

    /** Ends a look that has failed: it is made again. */
    synchronized void failed() {
        this.pending = true;
    }

    /** This node gives the partition up, but looks before the others do if it can. */
    synchronized void resign() {
        become(Role.VACANT);
        this.delay = 0;
    }

    /** What this node is to the partition. */
    private enum Role {

        KEEPER, FOLLOWER, VACANT

    }

}
