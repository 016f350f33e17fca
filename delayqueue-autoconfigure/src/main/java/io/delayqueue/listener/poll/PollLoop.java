package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.Lease;
import io.delayqueue.store.WakeUpSignal;
import io.delayqueue.store.WakeUps;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims the due messages of one partition for one listener, hands each to a handler
 * thread, and acknowledges those that are handled.
 * <p>
 * The loop reserves permits before it claims a message, so it never holds more unhandled
 * messages than {@link HandlerPermits} allows: those that are being handled, and those
 * prefetched. Messages that wait there too long, because handlers have become slow, are
 * given back. Leases of messages that are handled and not acknowledged yet do not count
 * against the limit. Finished messages wait a few milliseconds for others, and are then
 * acknowledged by one call, sent back to back with a claim if one is due: a finished
 * handler alone causes no claim, unless more messages were known to be due.
 * <p>
 * <strong>Threads.</strong> The loop has no thread. Its turns run one at a time, on the
 * thread of the event that causes them: the timer, a wake-up, an answer of the store, a
 * handler that finishes. No turn blocks; a pending answer causes a turn when it arrives.
 * A handler thread uses the lease that it was given, hands it back for acknowledgement,
 * releases its permit, and rings if the loop needs that: in this order, or the loop could
 * find no permit and run no other turn. Any thread pauses, resumes and stops. The stage
 * of an {@link InFlightMessage} determines the owner of its permit: the handler thread
 * that started it, or the loop that gave it back.
 */
public final class PollLoop {

    private static final Logger logger = LoggerFactory.getLogger(PollLoop.class);

    /** Short, so that the loop calls the store within a second of its recovery. */
    static final RetryPolicy STORE_BACKOFF = new RetryPolicy(Duration.ofMillis(100), 2, Duration.ofMillis(500), 0.2);

    private final ListenerEndpoint queue;

    private final ListenerRuntime context;

    private final HandlerPermits handlers;

    private final ClaimScheduler claims;

    private final Alarm alarm;

    private final LeaseRenewer leaseKeeper;

    private final AcknowledgementBatcher acknowledgements;

    private final DeliveryProcessor processor;

    private final PollLoopLog log;

    private final CompletableFuture<Void> end = new CompletableFuture<>();

    /** The calls whose answers are pending. */
    private @Nullable PendingCalls calls;

    /** Completes when the last release of messages has completed. */
    private CompletableFuture<?> givenBack = CompletableFuture.completedFuture(null);

    private int failures;

    private boolean windingDown;

    private volatile boolean paused;

    private volatile boolean stopped;

    private volatile long stopDeadline;

    private volatile boolean ended;

    /**
     * Creates a loop.
     * @param handlers shared with the loops of the queue's other partitions
     */
    PollLoop(ListenerEndpoint queue, ListenerRuntime context, HandlerPermits handlers) {
        this.queue = queue;
        this.context = context;
        this.handlers = handlers;
        this.log = new PollLoopLog(queue, context);
        handlers.join();
        this.alarm = new Alarm(this::turn, context::turn, context.timer(), context.nanoTime());
        this.leaseKeeper = new LeaseRenewer(queue, context);
        this.claims = new ClaimScheduler(queue, context, handlers, this.alarm, this.leaseKeeper::jumped);
        this.acknowledgements = new AcknowledgementBatcher(queue, context, this.leaseKeeper);
        this.processor = new DeliveryProcessor(queue, context, this::finished);
    }

    /** Returns a future that completes once the loop has ended, after a stop. */
    public CompletableFuture<Void> end() {
        return this.end;
    }

    /**
     * Starts the turns, unless the loop was stopped before.
     * @return {@link #end()}
     */
    public CompletableFuture<Void> start(WakeUps wakeUps) {
        if (this.stopped) {
            this.ended = true;
            this.end.complete(null);
            return this.end;
        }
        try {
            onEnd(wakeUps.listen(this.queue.partition(), this::heard)::close);
            onEnd(this.leaseKeeper.start()::cancel);
            // Ensures a turn in each safety poll, even if the schedule fails.
            onEnd(this.context.timer().every(this.context.settings().safetyPoll(), this.alarm::ring)::cancel);
        }
        catch (Throwable ex) {
            this.end.complete(null);
            throw ex;
        }
        this.alarm.start();
        return this.end;
    }

    private void onEnd(Runnable task) {
        this.end.whenComplete((done, ex) -> task.run());
    }

    /** Processes a wake-up. */
    void heard(WakeUpSignal signal) {
        // Mostly follows a resubscription, which shows that the store is reachable.
        boolean back = signal.kind() == WakeUpSignal.Kind.LOOK && this.claims.endBackoff();
        if (this.claims.heard(signal) || back) {
            this.alarm.ring();
        }
    }

    Duration silence() {
        return this.alarm.silence();
    }

    void pause(boolean pause) {
        this.paused = pause;
        this.alarm.ring();
    }

    /**
     * Ends the loop: gives back messages that are not started, and waits for running
     * handlers.
     * @param timeout how long to wait
     */
    void stop(Duration timeout) {
        this.stopDeadline = this.context.now() + Nanos.of(timeout);
        this.stopped = true;
        this.alarm.ring();
    }

    /**
     * Runs one turn: settles finished messages, and claims and dispatches due ones as
     * permits allow; once stopped, ends the loop.
     * @return how long until the next turn, unless the alarm rings; {@code null} for no
     * limit
     */
    @Nullable Duration turn() {
        try {
            if (this.ended) {
                return null;
            }
            PendingCalls calls = (this.calls != null) ? this.calls : send();
            if (calls == null) {
                return this.stopped ? windDown() : untilNext();
            }
            if (!calls.answers().isDone()) {
                return this.claims.untilLent(calls.claim());
            }
            this.calls = null;
            Duration backoff = accept(calls);
            if (this.stopped) {
                return (backoff != null) ? Nanos.shorter(backoff, untilDeadline()) : Duration.ZERO;
            }
            return (backoff != null) ? backoff : untilNext();
        }
        catch (Throwable ex) {
            if (this.ended) {
                this.end.complete(null);
            }
            Duration wait = backoff();
            this.log.failed(ex, wait);
            return wait;
        }
    }

    /** Sends due acknowledgements and claims; {@code null} if there are none. */
    private @Nullable PendingCalls send() {
        if (this.stopped && !beginToWindDown()) {
            return null;
        }
        if (this.handlers.isStalled()) {
            this.handlers.forgetDroppedStart();
            giveBackUnstarted();
        }
        this.handlers.goOn();
        Duration lingers = this.acknowledgements.lingers(this.context.now());
        boolean ripe = lingers != null && (lingers.isZero() || this.paused || this.stopped);
        List<AcknowledgementBatcher.Sent> sent = ripe ? this.acknowledgements.send() : List.of();
        ClaimScheduler.Sent claim = beginClaim();
        if (sent.isEmpty() && claim == null) {
            return null;
        }
        PendingCalls calls = PendingCalls.of(sent, claim);
        this.calls = calls;
        if (!calls.answers().isDone()) {
            this.claims.waits();
            calls.answers().whenComplete((done, ex) -> this.alarm.ring());
        }
        return calls;
    }

    private ClaimScheduler.@Nullable Sent beginClaim() {
        if (this.paused || this.stopped) {
            this.handlers.leave(this.alarm);
            return null;
        }
        return this.claims.send();
    }

    /**
     * Processes the answers.
     * @return how long to back off if a call failed, else {@code null}
     */
    private @Nullable Duration accept(PendingCalls calls) {
        boolean settled = this.acknowledgements.accept(calls.sent());
        boolean found = calls.claim() == null || accept(calls.claim());
        if (!settled || !found) {
            Duration wait = backoff();
            if (!found) {
                this.claims.backOff(wait);
            }
            return wait;
        }
        this.failures = 0;
        if (!calls.sent().isEmpty() && this.context.kept() == null) {
            // Messages that waited in their groups may be due, perhaps without a wake-up.
            this.claims.heard(WakeUpSignal.LOOK);
        }
        return null;
    }

    /** Returns how long to wait for a ring until the next turn. */
    private Duration untilNext() {
        Duration lingers = this.acknowledgements.lingers(this.context.now());
        Duration wait = (lingers != null) ? lingers : this.context.settings().safetyPoll();
        if (this.paused) {
            this.claims.resign();
            return wait;
        }
        return Nanos.shorter(this.claims.untilNext(), wait);
    }

    /** Processes the answer to a claim; returns {@code false} if the claim failed. */
    private boolean accept(ClaimScheduler.Sent sent) {
        ClaimScheduler.Answer answer = this.claims.accept(sent);
        if (answer == null) {
            return false;
        }
        ClaimResult claim = answer.claim();
        // Comes first, as the permits belong to these messages from here on.
        boolean dispatched = dispatch(
                hold(claim.messages(), new InFlightMessage.Times(sent.sentAt(), answer.at(), claim.now())));
        this.context.outage().recovered(StoreOutageLog.CLAIM, this.queue.partition());
        this.context.partitions().noticed(this.queue.partition(), claim.partitionsVersion());
        this.queue.expired(claim.expired());
        this.log.died(claim.buried());
        this.log.summarize();
        logger.debug("Claimed {} of {} from queue '{}'", claim.messages().size(), sent.room(), this.queue.name());
        return dispatched;
    }

    private List<InFlightMessage> hold(List<ClaimedMessage> messages, InFlightMessage.Times times) {
        List<InFlightMessage> leases = new ArrayList<>(messages.size());
        for (ClaimedMessage message : messages) {
            InFlightMessage lease = new InFlightMessage(message, times, this.queue.settings().lease());
            this.leaseKeeper.add(lease);
            leases.add(lease);
        }
        return leases;
    }

    private boolean dispatch(List<InFlightMessage> leases) {
        try {
            if (!this.stopped) {
                this.handlers.add(leases, this::work);
            }
            return true;
        }
        catch (Throwable ex) {
            this.log.noThread(ex);
            giveBackUnstarted();
            return false;
        }
    }

    private void work(InFlightMessage lease) {
        // A stop gives back messages that are not started.
        if (!this.stopped && lease.begin()) {
            this.processor.process(lease);
        }
        else {
            this.handlers.free();
        }
    }

    private void finished(InFlightMessage lease, boolean acknowledge) {
        boolean plan = false;
        if (acknowledge) {
            plan = this.acknowledgements.add(lease);
        }
        else {
            this.leaseKeeper.remove(lease);
            if (this.context.kept() == null) {
                // The message may be due again soon, perhaps without a wake-up.
                this.claims.heard(WakeUpSignal.LOOK);
                plan = true;
            }
        }
        boolean wanted = this.claims.finished(lease) || plan || this.stopped;
        if (this.ended) {
            flush();
        }
        else if (wanted) {
            this.alarm.ring();
        }
        if (this.handlers.wantsMore()) {
            this.handlers.ringThoseInLine();
        }
    }

    private void giveBackUnstarted() {
        List<InFlightMessage> unstarted = this.leaseKeeper.takeUnstarted();
        // Releases permits first: other loops must not wait for this one's server.
        this.claims.giveBack(unstarted.size());
        this.handlers.forgetGivenBack();
        this.givenBack = CompletableFuture.allOf(this.givenBack, this.leaseKeeper.release(unstarted));
    }

    /** Gives back unstarted messages; returns whether the stop has time left. */
    private boolean beginToWindDown() {
        if (!this.windingDown) {
            this.windingDown = true;
            this.handlers.leave(this.alarm);
            this.claims.resign();
            giveBackUnstarted();
        }
        return !untilDeadline().isZero();
    }

    /** Ends the loop if no handler runs, or the stop has timed out. */
    private @Nullable Duration windDown() {
        // The stop may have been requested during this turn.
        if (beginToWindDown() && !isIdle()) {
            return untilDeadline();
        }
        this.ended = true;
        this.context.outage().forget(this.queue.partition());
        this.log.close();
        if (this.claims.held() > 0) {
            this.log.outlived(this.claims.held());
        }
        CompletableFuture.allOf(this.givenBack, flush()).whenComplete((done, ex) -> this.end.complete(null));
        return null;
    }

    /** Acknowledges once the loop has ended, without waiting for the answers. */
    private CompletableFuture<Void> flush() {
        List<AcknowledgementBatcher.Sent> sent = this.acknowledgements.send();
        return PendingCalls.of(sent, null).answers().handle((done, ex) -> {
            this.acknowledgements.accept(sent);
            return null;
        });
    }

    private boolean isIdle() {
        return this.claims.held() == 0 && this.acknowledgements.isEmpty();
    }

    private Duration backoff() {
        this.failures++;
        Duration wait = STORE_BACKOFF.delayAfter(this.failures, this.context::random);
        return Nanos.shorter(wait, this.context.settings().safetyPoll());
    }

    private Duration untilDeadline() {
        return Duration.ofNanos(Math.max(0, this.stopDeadline - this.context.now()));
    }

}
