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
import io.delayqueue.store.StoreFailures;
import io.delayqueue.store.StoreFutures;
import io.delayqueue.store.WakeUpSignal;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends the claims of one loop and processes their answers: claims when its
 * {@link PollSchedule} plans it, and at most as many messages as
 * {@link HandlerConcurrencyLimiter} grants permits. If messages are due but no permits
 * are free, and this node is the primary poller of the partition, it resigns in favor of
 * other nodes.
 * <p>
 * A failed claim may still have leased messages that never arrived. Therefore the next
 * claim asks for a single message, and each success doubles the limit; otherwise each
 * retry could lose as many again.
 * <p>
 * If the answer to a claim is slow, its permits return to the loops of other partitions,
 * so that one hanging server cannot block all handlers. Its messages may then exceed the
 * permits.
 * <p>
 * <strong>Threads.</strong> The iterations of the loop. Signals come from the store's
 * thread, and any thread returns the permits of finished messages.
 */
final class PartitionClaimer {

    private static final Logger logger = LoggerFactory.getLogger(PartitionClaimer.class);

    private static final Duration PREFETCH_PAUSE = HandlerConcurrencyLimiter.PREFETCH_TIME.multipliedBy(2);

    /** How long a primary poller may have no free permits before it resigns. */
    private static final long FULL = Nanos.of(Duration.ofMillis(5));

    /** How long the permits of an unanswered claim are withheld from other loops. */
    private static final long SOON = Nanos.of(Duration.ofMillis(100));

    private static final long NOT_WAITING = Long.MAX_VALUE;

    private static final long NOT_FULL = Long.MAX_VALUE;

    private final PartitionBinding binding;

    private final PollLoopContext context;

    private final HandlerConcurrencyLimiter limiter;

    private final PollLoopScheduler scheduler;

    /** Permits of messages that this loop has claimed or is claiming. */
    private final AtomicInteger inFlight = new AtomicInteger();

    private final PollSchedule schedule;

    private final ClockJumpDetector clock = new ClockJumpDetector();

    private final Consumer<Duration> onJump;

    /** Since when this loop has detected no jump of the store's clock. */
    private long clockSampledAt;

    private final long start;

    /** Whether a handler that finishes must request an iteration. */
    private volatile boolean waitingForCapacity;

    /** Whether this loop waits for permits behind other loops. */
    private boolean queued;

    /** Whether the permits of the pending claim were returned before its answer. */
    private boolean capacityReturned;

    /** When the pending calls were sent, if other loops may need their permits. */
    private long sentSince = NOT_WAITING;

    private long fullSince = NOT_FULL;

    /** The end of the backoff; the store's thread may reset it. */
    private volatile long notBefore;

    private int claimLimit = MessageStore.BATCH_LIMIT;

    /**
     * Creates a claimer whose first claim is due now.
     * @param onJump receives the upper bound of each forward jump of the store's clock
     */
    PartitionClaimer(PartitionBinding binding, PollLoopContext context, HandlerConcurrencyLimiter limiter,
            PollLoopScheduler scheduler, Consumer<Duration> onJump) {
        this.onJump = onJump;
        this.binding = binding;
        this.context = context;
        this.limiter = limiter;
        this.scheduler = scheduler;
        this.schedule = new PollSchedule(binding.partition(), context.settings().safetyPoll(),
                context.primaryPartitions(), context::random);
        this.start = context.now();
    }

    /** Returns the time since this claimer was created. */
    private long time() {
        return this.context.now() - this.start;
    }

    /** Returns whether the signal makes the next claim earlier. */
    boolean onWakeUp(WakeUpSignal signal) {
        return this.schedule.onWakeUp(signal, time());
    }

    /** Ends the backoff; returns whether that makes the next claim earlier. */
    boolean endBackoff() {
        boolean early = this.notBefore > time();
        this.notBefore = 0;
        return early;
    }

    int inFlight() {
        return this.inFlight.get();
    }

    void release(int permits) {
        this.inFlight.addAndGet(-permits);
        this.limiter.release(permits);
    }

    /** Records a finished task; returns whether the loop waits for permits. */
    boolean finished(HandlerTask task) {
        this.inFlight.decrementAndGet();
        this.limiter.finished(task);
        return this.waitingForCapacity && this.limiter.needsMore();
    }

    /** Sends a claim if one is due and permits are free, else returns {@code null}. */
    @Nullable Sent send() {
        this.waitingForCapacity = false;
        if (nextAt() > time()) {
            stopWaiting();
            return null;
        }
        boolean shared = this.limiter.isShared();
        int most = Math.min(this.claimLimit, this.binding.handler().claimLimit());
        boolean batch = this.binding.handler().isBatch();
        int permits = (shared || this.limiter.hasCapacity()) ? this.limiter.reserve(batch ? 1 : most, this.scheduler)
                : 0;
        this.queued = shared && permits == 0;
        if (permits == 0) {
            return null;
        }
        this.inFlight.addAndGet(permits);
        int limit = batch ? most : permits;
        boolean backlog = limit == MessageStore.BATCH_LIMIT && this.schedule.isBacklogged();
        PrimaryPollerBid bid = this.schedule.poll(time());
        ListenerSettings settings = this.binding.settings();
        ClaimRequest request = new ClaimRequest(limit, settings.lease(), settings.expiryPolicy(), bid, settings.lease(),
                backlog);
        long sentAt = this.context.now();
        return new Sent(permits, limit, bid, sentAt,
                StoreFutures.send(() -> this.context.store().claim(this.binding.partition(), request))
                    .thenApply((claim) -> new Answer(claim, this.context.now())));
    }

    /**
     * Returns whether to claim although the answer to a claim is pending: if the last one
     * left due messages behind, and permits for a full claim are free. Not after a
     * failure until claims are full again, nor for batches, handlers that limit their
     * claims, and handlers that several loops share.
     */
    boolean overlaps() {
        return this.claimLimit == MessageStore.BATCH_LIMIT && !this.binding.handler().isBatch()
                && this.binding.handler().claimLimit() >= MessageStore.BATCH_LIMIT && this.schedule.isBacklogged()
                && !this.limiter.isShared() && this.limiter.hasCapacityFor(MessageStore.BATCH_LIMIT);
    }

    private long nextAt() {
        long next = Math.max(this.schedule.nextAt(), this.notBefore);
        Duration unavailable = this.binding.handler().untilAvailable();
        return unavailable.isZero() ? next : Math.max(next, time() + Nanos.of(unavailable));
    }

    /** Returns whether this loop waits for permits behind other loops. */
    boolean isQueued() {
        return this.queued;
    }

    private void stopWaiting() {
        if (this.queued) {
            this.queued = false;
            this.limiter.leave(this.scheduler);
        }
    }

    /** Records that calls were sent whose answers are pending. */
    void answersPending() {
        this.sentSince = this.limiter.isShared() ? time() : NOT_WAITING;
    }

    /**
     * Releases the permits of the pending claim, and leaves the queue for permits, if
     * answers do not arrive soon.
     * @param sent the pending claim; {@code null} if there is none
     * @return how long until then; {@code null} if there is nothing to release
     */
    @Nullable Duration untilCapacityReturned(@Nullable Sent sent) {
        if (this.sentSince == NOT_WAITING) {
            return null;
        }
        long left = this.sentSince + SOON - time();
        if (left > 0) {
            return Duration.ofNanos(left);
        }
        this.sentSince = NOT_WAITING;
        stopWaiting();
        if (sent != null) {
            this.capacityReturned = true;
            this.limiter.release(sent.permits());
        }
        return null;
    }

    /** Keeps permits for the claimed messages, one for a batch, and returns the rest. */
    private void keepPermits(Sent sent, int messages) {
        int kept = this.binding.handler().isBatch() ? Math.min(1, messages) : messages;
        this.inFlight.addAndGet(kept - sent.permits());
        this.limiter.release(this.capacityReturned ? -kept : sent.permits() - kept);
        this.capacityReturned = false;
    }

    /** Processes the complete answer; returns {@code null} if the claim failed. */
    @Nullable Answer accept(Sent sent) {
        Answer answer;
        try {
            answer = sent.answer().join();
        }
        catch (RuntimeException ex) {
            keepPermits(sent, 0);
            this.schedule.failed();
            Throwable cause = StoreFailures.unwrap(ex);
            // Also if nothing was leased, one claim is pending at a time until claims are
            // full again. A success of the other pending claim doubles the limit.
            this.claimLimit = changedNothing(cause) ? Math.min(this.claimLimit, MessageStore.BATCH_LIMIT / 4) : 1;
            this.context.outage().failed(StoreOutageLog.CLAIM, this.binding.partition(), cause);
            return null;
        }
        keepPermits(sent, answer.claim().messages().size());
        ClockJumpDetector.Jump jump = this.clock.record(sent.sentAt(), answer.at(), answer.claim().now());
        if (jump != null) {
            if (jump.isForward()) {
                this.onJump.accept(jump.most());
            }
            this.context.clocks()
                .jumped(this.binding.partition(), new ClockJumpLog.Sample(jump, this.clockSampledAt, answer.at()),
                        this.context::log);
        }
        this.clockSampledAt = (jump != null) ? answer.at() : sent.sentAt();
        this.claimLimit = Math.min(2 * this.claimLimit, MessageStore.BATCH_LIMIT);
        // A claim takes time to arrive, so the next one is sent earlier by that of the
        // fastest.
        this.schedule.found(answer.claim(), sent.bid(), answer.at() - this.start,
                sent.sentAt() + this.clock.delay() - this.start);
        return answer;
    }

    private static boolean changedNothing(Throwable failure) {
        return failure instanceof DelayQueueException known && known.effect() == DelayQueueException.Effect.NONE;
    }

    /** Delays the next claim, after one failed or could not be dispatched. */
    void backOff(Duration wait) {
        this.notBefore = time() + Nanos.of(wait);
    }

    /** Returns how long nothing is due or no permits are free, as far as known. */
    Duration untilNext() {
        this.waitingForCapacity = true;
        long now = time();
        if (this.binding.handler().untilAvailable().compareTo(PrimaryPollerBid.GRACE) >= 0) {
            // The handler may be available on another node, which then polls first.
            resign();
        }
        boolean waiting = this.limiter.hasWaiting();
        if (!this.queued && this.limiter.hasCapacity()) {
            this.waitingForCapacity = false;
            this.fullSince = NOT_FULL;
            long left = Math.max(0, nextAt() - now);
            return waiting ? shorter(left, Nanos.of(stallPause())) : Duration.ofNanos(left);
        }
        this.fullSince = Math.min(this.fullSince, now);
        Duration wait = untilResigned(now, waiting);
        // While messages wait here, not each handler that finishes requests an iteration.
        return waiting ? shorter(Nanos.of(wait), Nanos.of(PREFETCH_PAUSE)) : wait;
    }

    /**
     * Returns the time until an iteration should check for stalled messages of this loop.
     */
    private Duration stallPause() {
        Duration left = this.limiter.untilStalled();
        return (left.compareTo(PREFETCH_PAUSE) > 0) ? left : PREFETCH_PAUSE;
    }

    private static Duration shorter(long one, long other) {
        return Duration.ofNanos(Math.min(one, other));
    }

    /** Resigns if permits have been missing for too long; returns how long to wait. */
    private Duration untilResigned(long now, boolean waiting) {
        long wait = Nanos.of(this.context.settings().safetyPoll());
        if (this.schedule.isPrimary()) {
            long full = waiting ? Nanos.of(PREFETCH_PAUSE) : FULL;
            long left = Math.max(this.fullSince, this.schedule.nextAt()) + full - now;
            if (left > 0) {
                wait = left;
            }
            else {
                resign();
            }
        }
        long due = nextAt() - now;
        // Only waiters are woken when other loops return permits.
        boolean joins = !this.queued && this.limiter.isShared();
        return joins ? shorter(wait, Math.max(0, due)) : Duration.ofNanos(wait);
    }

    /** Resigns as primary poller of the partition, if this node is that. */
    void resign() {
        PrimaryPartitions primaryPartitions = this.context.primaryPartitions();
        if (primaryPartitions == null || !this.schedule.isPrimary()) {
            return;
        }
        this.schedule.resign();
        StoreFutures.send(() -> this.context.store().resign(this.binding.partition(), primaryPartitions.node()))
            .whenComplete((done, failure) -> {
                if (failure != null) {
                    logger.debug("Cannot resign as primary poller of queue '{}'; other nodes poll a little later",
                            this.binding.queue(), failure);
                }
            });
    }

    /** Resigns for good, as the loop claims no more. */
    void close() {
        resign();
        this.schedule.close();
    }

    /**
     * Holds a claim that was sent, with the permits that were reserved for it and the
     * maximum number of its messages.
     */
    record Sent(int permits, int limit, @Nullable PrimaryPollerBid bid, long sentAt, CompletableFuture<Answer> answer) {
    }

    /** Holds the answer to a claim, and when it arrived. */
    record Answer(ClaimResult claim, long at) {
    }

}
