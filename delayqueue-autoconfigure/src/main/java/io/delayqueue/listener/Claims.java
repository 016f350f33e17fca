package io.delayqueue.listener;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import io.delayqueue.DelayQueueException;
import io.delayqueue.engine.Claim;
import io.delayqueue.engine.ClaimRequest;
import io.delayqueue.engine.KeeperBid;
import io.delayqueue.engine.MessageStore;
import io.delayqueue.engine.Signal;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * When one loop claims, and for how many: at the times that its {@link Lookout} plans, as
 * far as its {@link Handlers} have room. If they have none for what is due, and this node
 * keeps the partition, it leaves that to others.
 * <p>
 * A claim that failed may have leased messages to nobody all the same. The next one has
 * room for a single message, and each that works doubles the room, or repeating it would
 * take away as many messages again each time.
 * <p>
 * <strong>Threads.</strong> The loop's. Signals come from the store's thread, and any
 * thread gives back the room of what has ended.
 */
final class Claims {

    private static final Logger logger = LoggerFactory.getLogger(Claims.class);

    private static final Duration CLAIMED_AHEAD_PAUSE = Handlers.AHEAD.multipliedBy(2);

    /** A keeper with no room for so long lets others hurry. */
    private static final long FULL = Nanos.of(Duration.ofMillis(5));

    private static final long NOT_FULL = Long.MAX_VALUE;

    private final ListenedQueue queue;

    private final WorkerContext context;

    private final Handlers handlers;

    private final Alarm alarm;

    /** Claimed by this loop, or being claimed, and not finished. */
    private final AtomicInteger held = new AtomicInteger();

    private final Lookout lookout;

    private final long start;

    /** Whether there is no room for what may be due: who gives some back rings. */
    private volatile boolean hungry;

    /** Whether it waits for room behind other loops, and is rung. */
    private boolean inLine;

    private long fullSince = NOT_FULL;

    private int roomLimit = MessageStore.BATCH_LIMIT;

    Claims(ListenedQueue queue, WorkerContext context, Handlers handlers, Alarm alarm) {
        this.queue = queue;
        this.context = context;
        this.handlers = handlers;
        this.alarm = alarm;
        this.lookout = new Lookout(context.settings().safetyPoll(), context.kept(), context::random);
        this.start = context.now();
    }

    /** For plans: begins at zero with this loop. */
    private long time() {
        return this.context.now() - this.start;
    }

    /** Takes notice of a signal, and returns whether it makes the next claim earlier. */
    boolean heard(Signal signal) {
        return this.lookout.heard(signal, time());
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
    boolean finished() {
        this.held.decrementAndGet();
        this.handlers.finished();
        return this.hungry && this.handlers.wantsMore();
    }

    /** Sends a claim if it is time and there is room; {@code null} if not. */
    @Nullable Sent send() {
        this.hungry = false;
        if (this.lookout.nextAt() > time()) {
            if (this.inLine) {
                this.inLine = false;
                this.handlers.leave(this.alarm);
            }
            return null;
        }
        boolean shared = this.handlers.isShared();
        int room = (shared || this.handlers.hasRoom()) ? this.handlers.reserve(this.roomLimit, this.alarm) : 0;
        this.inLine = shared && room == 0;
        if (room == 0) {
            return null;
        }
        this.held.addAndGet(room);
        KeeperBid bid = this.lookout.look(time());
        ListenerSettings settings = this.queue.settings();
        ClaimRequest request = new ClaimRequest(room, settings.lease(), settings.expiredPolicy(), bid);
        long sentAt = this.context.now();
        return new Sent(room, bid, sentAt,
                StoreCalls.send(() -> this.context.store().claim(this.queue.partition(), request))
                    .thenApply((claim) -> new Answer(claim, this.context.now())));
    }

    /** Waits for the answer; {@code null} if the claim failed. */
    @Nullable Answer await(Sent sent) {
        try {
            Answer answer = sent.answer().join();
            this.roomLimit = Math.min(2 * this.roomLimit, MessageStore.BATCH_LIMIT);
            this.lookout.found(answer.claim(), sent.bid(), answer.at() - this.start);
            giveBack(sent.room() - answer.claim().messages().size());
            return answer;
        }
        catch (RuntimeException ex) {
            giveBack(sent.room());
            this.lookout.failed();
            Throwable cause = StoreCalls.unwrap(ex);
            if (!changedNothing(cause)) {
                this.roomLimit = 1;
            }
            this.context.outage().failed(Outage.CLAIM, this.queue.name(), cause);
            return null;
        }
    }

    private static boolean changedNothing(Throwable failure) {
        return failure instanceof DelayQueueException known && known.effect() == DelayQueueException.Effect.NONE;
    }

    /** How long there is nothing to claim, or no room, unless the alarm rings. */
    Duration untilNext() {
        this.hungry = true;
        long now = time();
        boolean room = this.handlers.hasRoom();
        // The room may be with other loops, who ring only those in line: so it gets
        // there.
        if (!this.inLine && (room || this.handlers.isShared())) {
            this.hungry = !room;
            this.fullSince = room ? NOT_FULL : this.fullSince;
            return Duration.ofNanos(Math.max(0, this.lookout.nextAt() - now));
        }
        this.fullSince = Math.min(this.fullSince, now);
        // While messages wait here, finished handlers do not ring for each.
        return this.handlers.hasWaiting() ? CLAIMED_AHEAD_PAUSE : untilResigned(now);
    }

    /** With no room for what is due, somebody else should hurry. */
    private Duration untilResigned(long now) {
        if (this.lookout.isKeeper()) {
            long left = Math.max(this.fullSince, this.lookout.nextAt()) + FULL - now;
            if (left > 0) {
                return Duration.ofNanos(left);
            }
            resign();
        }
        return this.context.settings().safetyPoll();
    }

    /** If this node keeps the partition, lets another do so. */
    void resign() {
        KeptPartitions kept = this.context.kept();
        if (kept == null || !this.lookout.isKeeper()) {
            return;
        }
        this.lookout.resign();
        StoreCalls.send(() -> this.context.store().resign(this.queue.partition(), kept.node()))
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
    record Sent(int room, @Nullable KeeperBid bid, long sentAt, CompletableFuture<Answer> answer) {
    }

    /**
     * The answer to a claim.
     *
     * @param claim the answer
     * @param at when it came
     */
    record Answer(Claim claim, long at) {
    }

}
