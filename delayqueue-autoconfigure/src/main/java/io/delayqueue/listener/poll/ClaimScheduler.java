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
 * When one loop claims, and for how many: at the times that its {@link PollSchedule}
 * plans, as far as its {@link HandlerPermits} have room. If they have none for what is
 * due, and this node keeps the partition, it leaves that to others.
 * <p>
 * A claim that failed may have leased messages to nobody all the same. The next one has
 * room for a single message, and each that works doubles the room, or repeating it would
 * take away as many messages again each time. And it is not sent before the backoff is
 * over, whoever rings meanwhile, unless what rings shows that the store can be reached.
 * <p>
 * Room for a claim that is not answered soon goes back to the loops of other partitions,
 * or one whose server hangs would take the handlers of all. What such a claim brings in
 * the end comes on top of the room there is.
 * <p>
 * <strong>Threads.</strong> The turns of the loop. Signals come from the store's thread,
 * and any thread gives back the room of what has ended.
 */
final class ClaimScheduler {

    private static final Logger logger = LoggerFactory.getLogger(ClaimScheduler.class);

    private static final Duration CLAIMED_AHEAD_PAUSE = HandlerPermits.AHEAD.multipliedBy(2);

    /** A keeper with no room for so long lets others hurry. */
    private static final long FULL = Nanos.of(Duration.ofMillis(5));

    /** So long the room of a claim is kept from other loops. */
    private static final long SOON = Nanos.of(Duration.ofMillis(100));

    private static final long NOT_WAITING = Long.MAX_VALUE;

    private static final long NOT_FULL = Long.MAX_VALUE;

    private final ListenerEndpoint queue;

    private final ListenerRuntime context;

    private final HandlerPermits handlers;

    private final Alarm alarm;

    /** Claimed by this loop, or being claimed, and not finished. */
    private final AtomicInteger held = new AtomicInteger();

    private final PollSchedule lookout;

    private final StoreClock clock = new StoreClock();

    private final Consumer<Duration> onJump;

    /** No jump of the store's clock after this was seen. */
    private long clockLookedAt;

    private final long start;

    /** Whether there is no room for what may be due: who gives some back rings. */
    private volatile boolean hungry;

    /** Whether it waits for room behind other loops, and is rung. */
    private boolean inLine;

    /** Whether the room of the claim under way was given back before its answer. */
    private boolean lent;

    /** When the calls under way were sent, if others might have use for their room. */
    private long waitsSince = NOT_WAITING;

    private long fullSince = NOT_FULL;

    /** Until then the store is left in peace; ended from the store's thread too. */
    private volatile long notBefore;

    private int roomLimit = MessageStore.BATCH_LIMIT;

    /**
     * Plans the first claim for now.
     * @param onJump receives the most that a forward jump of the store's clock may have
     * been
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

    /** For plans: begins at zero with this loop. */
    private long time() {
        return this.context.now() - this.start;
    }

    /** Takes notice of a signal, and returns whether it makes the next claim earlier. */
    boolean heard(WakeUpSignal signal) {
        return this.lookout.heard(signal, time());
    }

    /**
     * The store can be reached again. Returns whether that makes the next claim earlier.
     */
    boolean endBackoff() {
        boolean early = this.notBefore > time();
        this.notBefore = 0;
        return early;
    }

    /** How many messages are claimed, or being claimed, and not finished. */
    int held() {
        return this.held.get();
    }

    void giveBack(int room) {
        this.held.addAndGet(-room);
        this.handlers.giveBack(room);
    }

    /** A message is handled; returns whether the loop waits for the room. */
    boolean finished(InFlightMessage lease) {
        this.held.decrementAndGet();
        this.handlers.finished(lease);
        return this.hungry && this.handlers.wantsMore();
    }

    /** Sends a claim if it is time and there is room; {@code null} if not. */
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

    /** When to claim next, as far as it depends on this loop. */
    private long nextAt() {
        return Math.max(this.lookout.nextAt(), this.notBefore);
    }

    private void leaveLine() {
        if (this.inLine) {
            this.inLine = false;
            this.handlers.leave(this.alarm);
        }
    }

    /** Calls are under way, and their answers are not there yet. */
    void waits() {
        this.waitsSince = this.handlers.isShared() ? time() : NOT_WAITING;
    }

    /**
     * If answers do not come soon, other loops get the room and the place in the line
     * that this one has.
     * @param sent the claim under way; {@code null} if there is none
     * @return how long until then, {@code null} if there is nothing to be had
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

    /** Keeps the room of what a claim has brought, and gives the rest back. */
    private void keep(Sent sent, int messages) {
        this.held.addAndGet(messages - sent.room());
        this.handlers.giveBack(this.lent ? -messages : sent.room() - messages);
        this.lent = false;
    }

    /** Takes the answer, which is there; {@code null} if the claim failed. */
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

    /** A claim has failed, or what it brought cannot be handled: waits for a while. */
    void backOff(Duration wait) {
        this.notBefore = time() + Nanos.of(wait);
    }

    /** How long there is nothing to claim, or no room, unless the alarm rings. */
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
        // While messages wait here, finished handlers do not ring for each.
        return waiting ? shorter(Nanos.of(wait), Nanos.of(CLAIMED_AHEAD_PAUSE)) : wait;
    }

    /** What has waited too long is given back: by this loop if it is its own. */
    private Duration stallPause() {
        Duration left = this.handlers.untilStalled();
        return (left.compareTo(CLAIMED_AHEAD_PAUSE) > 0) ? left : CLAIMED_AHEAD_PAUSE;
    }

    private static Duration shorter(long one, long other) {
        return Duration.ofNanos(Math.min(one, other));
    }

    /** With no room for what is due, somebody else should hurry. */
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
        // Of room that other loops give back only those in the line are told.
        boolean joins = !this.inLine && this.handlers.isShared();
        return joins ? shorter(wait, Math.max(0, due)) : Duration.ofNanos(wait);
    }

    /** If this node keeps the partition, lets another do so. */
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
     * A claim under way.
     *
     * @param room how many it has room for
     * @param bid what it says of the keeper
     * @param sentAt when it was sent
     * @param answer what comes
     */
    record Sent(int room, @Nullable PrimaryPollerBid bid, long sentAt, CompletableFuture<Answer> answer) {
    }

    /**
     * The answer to a claim.
     *
     * @param claim the answer
     * @param at when it came
     */
    record Answer(ClaimResult claim, long at) {
    }

}
