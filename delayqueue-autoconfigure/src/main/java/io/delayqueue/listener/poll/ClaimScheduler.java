package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import io.delayqueue.DelayQueueException;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.PrimaryPollerBid;
import io.delayqueue.store.WakeUpSignal;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides when one loop claims and how many messages: at the times that its
 * {@link PollSchedule} plans, limited by the free permits of its {@link HandlerPermits}.
 * If messages are due but no permits are free, and this node is the primary poller of the
 * partition, it resigns in favor of other nodes.
 * <p>
 * A failed claim may still have leased messages that never arrived. Therefore the next
 * claim asks for a single message, and each success doubles the limit; otherwise each
 * retry could lose as many again. No claim is sent before the backoff is over, unless a
 * wake-up shows that the store is reachable.
 * <p>
 * If the answer to a claim is slow, its permits return to the loops of other partitions,
 * so that one hanging server cannot block all handlers. Its messages may then exceed the
 * permits.
 * <p>
 * <strong>Threads.</strong> The turns of the loop. Signals come from the store's thread,
 * and any thread returns the permits of finished messages.
 */
final class ClaimScheduler {

    private static final Logger logger = LoggerFactory.getLogger(ClaimScheduler.class);

    private static final Duration CLAIMED_AHEAD_PAUSE = HandlerPermits.AHEAD.multipliedBy(2);

    /** How long a primary poller may have no free permits before it resigns. */
    private static final long FULL = Nanos.of(Duration.ofMillis(5));

    /** How long the permits of an unanswered claim are withheld from other loops. */
    private static final long SOON = Nanos.of(Duration.ofMillis(100));

    private static final long NOT_WAITING = Long.MAX_VALUE;

    private static final long NOT_FULL = Long.MAX_VALUE;

    private final ListenerEndpoint queue;

    private final ListenerRuntime context;

    private final HandlerPermits handlers;

    private final Alarm alarm;

    /** Messages that this loop has claimed or is claiming, and that are not finished. */
    private final AtomicInteger held = new AtomicInteger();

    private final PollSchedule lookout;

    private final StoreClock clock = new StoreClock();

    private final Consumer<Duration> onJump;

    /** The time after which this loop has detected no jump of the store's clock. */
    private long clockLookedAt;

    private final long start;

    /** Whether the loop needs a ring once permits are returned. */
    private volatile boolean hungry;

    /** Whether this loop waits for permits behind other loops and will be rung. */
    private boolean inLine;

    /** Whether the permits of the pending claim were returned before its answer. */
    private boolean lent;

    /** When the pending calls were sent, if other loops may need their permits. */
    private long waitsSince = NOT_WAITING;

    private long fullSince = NOT_FULL;

    /** The end of the backoff; the store's thread may reset it. */
    private volatile long notBefore;

    private int roomLimit = MessageStore.BATCH_LIMIT;

    /**
     * Creates a scheduler whose first claim is due now.
     * @param onJump receives the upper bound of each forward jump of the store's clock
     */
    ClaimScheduler(ListenerEndpoint queue, ListenerRuntime context, HandlerPermits handlers, Alarm alarm,
            Consumer<Duration> onJump) {
        this.onJump = onJump;
        this.queue = queue;
        this.context = context;
        this.handlers = handlers;
        this.alarm = alarm;
        this.lookout = new PollSchedule(queue.partition(), context.settings().safetyPoll(), context.kept(),
                context::random);
        this.start = context.now();
    }

    /** Returns the time since this loop was created, for schedules. */
    private long time() {
        return this.context.now() - this.start;
    }

    /** Processes a signal and returns whether it makes the next claim earlier. */
    boolean heard(WakeUpSignal signal) {
        return this.lookout.heard(signal, time());
    }

    /** Ends the backoff; returns whether that makes the next claim earlier. */
    boolean endBackoff() {
        boolean early = this.notBefore > time();
        this.notBefore = 0;
        return early;
    }

    /** Returns how many messages are claimed or being claimed, and not finished. */
    int held() {
        return this.held.get();
    }

    void giveBack(int room) {
        this.held.addAndGet(-room);
        this.handlers.giveBack(room);
    }

    /** Records a finished message; returns whether the loop waits for permits. */
    boolean finished(InFlightMessage lease) {
        this.held.decrementAndGet();
        this.handlers.finished(lease);
        return this.hungry && this.handlers.wantsMore();
    }

    /** Sends a claim if one is due and permits are free, else returns {@code null}. */
    @Nullable Sent send() {
        this.hungry = false;
        if (nextAt() > time()) {
            leaveLine();
            return null;
        }
        boolean shared = this.handlers.isShared();
        int room = (shared || this.handlers.hasRoom()) ? this.handlers.reserve(this.roomLimit, this.alarm) : 0;
        this.inLine = shared && room == 0;
        if (room == 0) {
            return null;
        }
        this.held.addAndGet(room);
        PrimaryPollerBid bid = this.lookout.look(time());
        ListenerSettings settings = this.queue.settings();
        ClaimRequest request = new ClaimRequest(room, settings.lease(), settings.expiredPolicy(), bid);
        long sentAt = this.context.now();
        return new Sent(room, bid, sentAt,
                StoreFutures.send(() -> this.context.store().claim(this.queue.partition(), request))
                    .thenApply((claim) -> new Answer(claim, this.context.now())));
    }

    /** Returns when to claim next, as far as this depends on this loop. */
    private long nextAt() {
        return Math.max(this.lookout.nextAt(), this.notBefore);
    }

    private void leaveLine() {
        if (this.inLine) {
            this.inLine = false;
            this.handlers.leave(this.alarm);
        }
    }

    /** Records that calls were sent whose answers are pending. */
    void waits() {
        this.waitsSince = this.handlers.isShared() ? time() : NOT_WAITING;
    }

    /**
     * Releases the permits of the pending claim, and leaves the queue for permits, if
     * answers do not arrive soon.
     * @param sent the pending claim; {@code null} if there is none
     * @return how long until then; {@code null} if there is nothing to release
     */
    @Nullable Duration untilLent(@Nullable Sent sent) {
        if (this.waitsSince == NOT_WAITING) {
            return null;
        }
        long left = this.waitsSince + SOON - time();
        if (left > 0) {
            return Duration.ofNanos(left);
        }
        this.waitsSince = NOT_WAITING;
        leaveLine();
        if (sent != null) {
            this.lent = true;
            this.handlers.giveBack(sent.room());
        }
        return null;
    }

    /** Keeps permits for the claimed messages and returns the rest. */
    private void keep(Sent sent, int messages) {
        this.held.addAndGet(messages - sent.room());
        this.handlers.giveBack(this.lent ? -messages : sent.room() - messages);
        this.lent = false;
    }

    /** Processes the complete answer; returns {@code null} if the claim failed. */
    @Nullable Answer accept(Sent sent) {
        Answer answer;
        try {
            answer = sent.answer().join();
        }
        catch (RuntimeException ex) {
            keep(sent, 0);
            this.lookout.failed();
            Throwable cause = StoreFutures.unwrap(ex);
            if (!changedNothing(cause)) {
                this.roomLimit = 1;
            }
            this.context.outage().failed(StoreOutageLog.CLAIM, this.queue.partition(), cause);
            return null;
        }
        keep(sent, answer.claim().messages().size());
        StoreClock.Jump jump = this.clock.told(sent.sentAt(), answer.at(), answer.claim().now());
        if (jump != null) {
            if (jump.isForward()) {
                this.onJump.accept(jump.most());
            }
            this.context.clocks()
                .jumped(this.queue.partition(), new ClockJumpDetector.Sight(jump, this.clockLookedAt, answer.at()),
                        this.context::log);
        }
        this.clockLookedAt = (jump != null) ? answer.at() : sent.sentAt();
        this.roomLimit = Math.min(2 * this.roomLimit, MessageStore.BATCH_LIMIT);
        this.lookout.found(answer.claim(), sent.bid(), answer.at() - this.start);
        return answer;
    }

    private static boolean changedNothing(Throwable failure) {
        return failure instanceof DelayQueueException known && known.effect() == DelayQueueException.Effect.NONE;
    }

    /** Delays the next claim, after one failed or could not be dispatched. */
    void backOff(Duration wait) {
        this.notBefore = time() + Nanos.of(wait);
    }

    /**
     * Returns how long nothing is due or no permits are free, unless the alarm rings.
     */
    Duration untilNext() {
        this.hungry = true;
        long now = time();
        boolean waiting = this.handlers.hasWaiting();
        if (!this.inLine && this.handlers.hasRoom()) {
            this.hungry = false;
            this.fullSince = NOT_FULL;
            long left = Math.max(0, nextAt() - now);
            return waiting ? shorter(left, Nanos.of(stallPause())) : Duration.ofNanos(left);
        }
        this.fullSince = Math.min(this.fullSince, now);
        Duration wait = untilResigned(now, waiting);
        // While messages wait here, handlers do not ring for each that they finish.
        return waiting ? shorter(Nanos.of(wait), Nanos.of(CLAIMED_AHEAD_PAUSE)) : wait;
    }

    /** Returns the time until a turn should check for stalled messages of this loop. */
    private Duration stallPause() {
        Duration left = this.handlers.untilStalled();
        return (left.compareTo(CLAIMED_AHEAD_PAUSE) > 0) ? left : CLAIMED_AHEAD_PAUSE;
    }

    private static Duration shorter(long one, long other) {
        return Duration.ofNanos(Math.min(one, other));
    }

    /** Resigns if permits have been missing for too long; returns how long to wait. */
    private Duration untilResigned(long now, boolean waiting) {
        long wait = Nanos.of(this.context.settings().safetyPoll());
        if (this.lookout.isKeeper()) {
            long full = waiting ? Nanos.of(CLAIMED_AHEAD_PAUSE) : FULL;
            long left = Math.max(this.fullSince, this.lookout.nextAt()) + full - now;
            if (left > 0) {
                wait = left;
            }
            else {
                resign();
            }
        }
        long due = nextAt() - now;
        // Only loops that wait in the queue are rung when other loops return permits.
        boolean joins = !this.inLine && this.handlers.isShared();
        return joins ? shorter(wait, Math.max(0, due)) : Duration.ofNanos(wait);
    }

    /** Resigns as primary poller of the partition, if this node is that. */
    void resign() {
        PrimaryPartitions kept = this.context.kept();
        if (kept == null || !this.lookout.isKeeper()) {
            return;
        }
        this.lookout.resign();
        StoreFutures.send(() -> this.context.store().resign(this.queue.partition(), kept.node()))
            .whenComplete((done, failure) -> {
                if (failure != null) {
                    logger.debug("Cannot resign from queue '{}'; others look a little later", this.queue.name(),
                            failure);
                }
            });
    }

    /**
     * Holds a claim that was sent.
     *
     * @param room the maximum number of messages to claim
     * @param bid the bid to be the primary poller
     * @param sentAt when it was sent
     * @param answer completed with the answer
     */
    record Sent(int room, @Nullable PrimaryPollerBid bid, long sentAt, CompletableFuture<Answer> answer) {
    }

    /**
     * Holds the answer to a claim.
     *
     * @param claim the answer
     * @param at when it arrived
     */
    record Answer(ClaimResult claim, long at) {
    }

}
