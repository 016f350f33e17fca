package io.delayqueue.listener.poll;

import java.time.Duration;
import java.time.Instant;
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
    private static final long NO_PRIMARY_JITTER = Nanos.of(Duration.ofMillis(10));

    /** The shortest time between two polls that the primary poller announces. */
    private static final long CONFIRMATION_PAUSE = Nanos.of(Duration.ofMillis(100));

    /** The primary poller announces a poll before the grace of standby nodes is over. */
    private static final long MAX_SILENCE = GRACE / 2;

    /** Makes the primary poller poll early enough to notify the others in time. */
    private static final double PRIMARY_SAFETY_POLL = 0.85;

    private static final double SAFETY_POLL_JITTER = 0.1;

    private static final long NEVER = Long.MAX_VALUE;

    private final Partition partition;

    private final @Nullable PrimaryPartitions primaryPartitions;

    private final DoubleSupplier random;

    private final long primarySafetyPoll;

    private final long standbySafetyPoll;

    private Role role;

    /** Whether messages may have been missed; polls as soon as permits are free. */
    private boolean pending = true;

    /** The earliest time at which a message is known to be due. */
    private long nextDueAt = NEVER;

    /** The earliest due time learned since the last poll was sent. */
    private long learnedDueAt = NEVER;

    /** How long after the next due time to poll. */
    private long delay;

    /**
     * Whether more messages are due than the last poll could claim; then no node waits
     * for another.
     */
    private boolean backlogged;

    /** The store's time in the last answer; {@code null} before the first. */
    private @Nullable Instant storeTime;

    /** When a poll would have been sent to arrive at that time. */
    private long storeTimeAt;

    /** When this node or the primary poller last polled. */
    private long polledAt;

    private long bidAt = -CONFIRMATION_PAUSE;

    private long unannouncedSince = NEVER;

    private long takeOverAt = NEVER;

    /** Whether the loop polls no more. */
    private boolean closed;

    /**
     * Creates a schedule whose first poll is due at once.
     * @param partition the partition to poll
     * @param safetyPoll longest time between two polls
     * @param primaryPartitions the partitions whose primary poller is this node;
     * {@code null} if the store does not announce primary pollers, so that all nodes poll
     * when a message is due
     * @param random returns numbers from 0 to 1
     */
    PollSchedule(Partition partition, Duration safetyPoll, @Nullable PrimaryPartitions primaryPartitions,
            DoubleSupplier random) {
        this.partition = partition;
        this.primaryPartitions = primaryPartitions;
        this.random = random;
        this.role = (primaryPartitions != null) ? Role.NO_PRIMARY : Role.PRIMARY;
        double poll = Nanos.of(safetyPoll);
        this.primarySafetyPoll = (long) (poll * (PRIMARY_SAFETY_POLL - SAFETY_POLL_JITTER * random.getAsDouble() / 2));
        this.standbySafetyPoll = (long) (poll * (1 - SAFETY_POLL_JITTER * random.getAsDouble() / 2));
    }

    /** Returns when to poll next, if permits are free. */
    synchronized long nextAt() {
        if (this.pending) {
            return 0;
        }
        long poll = (this.role == Role.PRIMARY) ? this.primarySafetyPoll : this.standbySafetyPoll;
        long at = Math.min(after(this.nextDueAt, this.backlogged ? 0 : this.delay), this.polledAt + poll);
        at = Math.min(at, after(this.unannouncedSince, MAX_SILENCE));
        return Math.min(at, this.takeOverAt);
    }

    private static long after(long time, long span) {
        return (time == NEVER) ? NEVER : time + span;
    }

    synchronized boolean isPrimary() {
        return this.primaryPartitions != null && this.role == Role.PRIMARY;
    }

    /** Returns whether the last poll left due messages behind. */
    synchronized boolean isBacklogged() {
        return this.backlogged;
    }

    /** Processes a signal and returns whether it makes the next poll earlier. */
    synchronized boolean onWakeUp(WakeUpSignal signal, long now) {
        if (this.closed) {
            return false;
        }
        long before = nextAt();
        switch (signal.kind()) {
            case POLL_NOW -> this.pending = true;
            case DUE_IN -> learn(Math.min(now + span(signal.in()), timeOf(signal.due())));
            case PRIMARY_POLLED -> onPrimaryPolled(signal, now);
            case NO_PRIMARY -> onNoPrimary();
            case SCHEDULES_CHANGED -> {
                // Concerns the firing of schedules, whose occurrences wake the loop.
            }
        }
        return nextAt() < before;
    }

    /** Returns when a poll must be sent to arrive at this time of the store's clock. */
    private long timeOf(@Nullable Instant due) {
        return (due != null && this.storeTime != null)
                ? this.storeTimeAt + Nanos.of(Duration.between(this.storeTime, due)) : NEVER;
    }

    private void learn(long due) {
        this.nextDueAt = Math.min(this.nextDueAt, due);
        this.learnedDueAt = Math.min(this.learnedDueAt, due);
    }

    private static long span(@Nullable Duration in) {
        return (in != null) ? Nanos.of(in) : 0;
    }

    private void onPrimaryPolled(WakeUpSignal signal, long now) {
        WakeUpSignal.PrimaryPoller primary = signal.primary();
        if (this.primaryPartitions == null || primary == null) {
            return;
        }
        if (primary.node().equals(this.primaryPartitions.node())) {
            become(Role.PRIMARY);
            return;
        }
        long before = after(this.nextDueAt, this.backlogged ? 0 : this.delay);
        become(Role.STANDBY);
        this.polledAt = now;
        this.backlogged = signal.in() != null && span(signal.in()) <= 0;
        // Excess messages are due for all nodes; this never delays a poll.
        this.nextDueAt = this.backlogged ? Math.min(before, now + jitter())
                : (signal.in() != null) ? now + span(signal.in()) : NEVER;
        if (primary.load() >= this.primaryPartitions.count() + 2 && this.primaryPartitions.takeOne()) {
            this.takeOverAt = now + (long) (MAX_SILENCE * this.random.getAsDouble());
        }
    }

    private void onNoPrimary() {
        if (this.primaryPartitions != null && this.role != Role.NO_PRIMARY) {
            become(Role.NO_PRIMARY);
        }
    }

    private void become(Role role) {
        if (this.primaryPartitions != null && this.role != role) {
            if (role == Role.PRIMARY) {
                this.primaryPartitions.add(this.partition);
            }
            else if (this.role == Role.PRIMARY) {
                this.primaryPartitions.remove(this.partition);
            }
            this.role = role;
            this.takeOverAt = NEVER;
            this.unannouncedSince = NEVER;
        }
        this.delay = switch (this.role) {
            case PRIMARY -> 0;
            case NO_PRIMARY -> jitter();
            case STANDBY -> (long) (GRACE * (1 + GRACE_JITTER * this.random.getAsDouble()));
        };
    }

    private long jitter() {
        return (long) (NO_PRIMARY_JITTER * this.random.getAsDouble());
    }

    /** Begins a poll; returns the bid to send along, {@code null} for none. */
    synchronized @Nullable PrimaryPollerBid poll(long now) {
        this.pending = false;
        this.learnedDueAt = NEVER;
        boolean takesOver = this.takeOverAt <= now;
        this.takeOverAt = NEVER;
        if (this.primaryPartitions == null) {
            return null;
        }
        boolean primary = this.role == Role.PRIMARY;
        if (now - this.bidAt < CONFIRMATION_PAUSE && !takesOver && this.role != Role.NO_PRIMARY) {
            if (primary) {
                this.unannouncedSince = Math.min(this.unannouncedSince, now);
            }
            return primary ? this.primaryPartitions.bid(PrimaryPollerBid.Kind.RENEW, 0) : null;
        }
        this.bidAt = now;
        return this.primaryPartitions.bid(takesOver ? PrimaryPollerBid.Kind.REBALANCE : PrimaryPollerBid.Kind.ACQUIRE,
                this.primaryPartitions.others(this.partition));
    }

    /**
     * Ends a poll that the store has answered.
     * @param at when the answer arrived
     * @param sentAt when the fastest poll would have been sent for this answer: one that
     * is sent as long after that as the answer says arrives when a message is due
     */
    synchronized void found(ClaimResult claim, @Nullable PrimaryPollerBid bid, long at, long sentAt) {
        this.polledAt = at;
        this.storeTime = claim.now();
        this.storeTimeAt = sentAt;
        Duration nextIn = claim.nextIn();
        this.backlogged = nextIn != null && nextIn.isZero();
        this.nextDueAt = Math.min(this.learnedDueAt, (nextIn != null) ? sentAt + Nanos.of(nextIn) : NEVER);
        if (bid != null && bid.kind() != PrimaryPollerBid.Kind.RENEW) {
            become(claim.primaryPoller() ? Role.PRIMARY : Role.STANDBY);
            this.unannouncedSince = NEVER;
        }
    }

    /** Ends a failed poll, which is repeated. */
    synchronized void failed() {
        this.pending = true;
    }

    /** Resigns as primary poller; this node still polls before the others if it can. */
    synchronized void resign() {
        become(Role.NO_PRIMARY);
        this.delay = 0;
    }

    /**
     * Resigns for good. Another loop of this node may poll the partition, after a restart
     * of the listener for example; its announcements would make this one count, too.
     */
    synchronized void close() {
        resign();
        this.closed = true;
    }

    /** Names the role of this node for the partition. */
    private enum Role {

        PRIMARY, STANDBY, NO_PRIMARY

    }

}
