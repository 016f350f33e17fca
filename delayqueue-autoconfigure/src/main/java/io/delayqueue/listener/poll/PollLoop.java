package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.WakeUpSignal;
import io.delayqueue.store.WakeUps;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims the due messages of one partition for one listener, hands each to a handler
 * thread, and acknowledges those that are handled.
 * <p>
 * The loop reserves permits before it claims, so it never holds more unhandled messages
 * than {@link HandlerConcurrencyLimiter} allows. Messages that wait there too long,
 * because handlers have become slow, are released. Handled messages wait a few
 * milliseconds for others; one call acknowledges them, sent back to back with a claim if
 * one is due. While due messages are left behind, a loop that shares its handlers with no
 * other one sends a second pair of calls before the first is answered, if permits for a
 * full claim are free.
 * <p>
 * <strong>Threads.</strong> The loop has no thread. Its iterations run one at a time, on
 * the thread of the event that causes them: the timer, a wake-up, an answer of the store,
 * a handler that finishes. No iteration blocks; a pending answer causes an iteration when
 * it arrives. A handler thread hands its message back for acknowledgement, releases its
 * permit, and requests an iteration if needed: in this order, or the loop could find no
 * permit and run no other iteration. Any thread pauses, resumes and stops.
 */
public final class PollLoop {

    private static final Logger logger = LoggerFactory.getLogger(PollLoop.class);

    /** Short, so that the loop calls the store within a second of its recovery. */
    static final BackoffPolicy STORE_BACKOFF = new BackoffPolicy(Duration.ofMillis(100), 2, Duration.ofMillis(500),
            0.2);

    private final PartitionBinding binding;

    private final PollLoopContext context;

    private final HandlerConcurrencyLimiter limiter;

    private final PartitionClaimer claims;

    private final PollLoopScheduler scheduler;

    private final LeaseRenewer leaseRenewer;

    private final AcknowledgementBatcher acknowledgements;

    private final DeliveryProcessor processor;

    private final PollLoopLog log;

    private final CompletableFuture<Void> end = new CompletableFuture<>();

    /** The calls without a processed answer, in the order in which they were sent. */
    private final Deque<PendingCalls> pending = new ArrayDeque<>();

    /** Completes when the last release of messages has completed. */
    private CompletableFuture<?> released = CompletableFuture.completedFuture(null);

    private int failures;

    private boolean draining;

    private volatile boolean paused;

    private volatile boolean stopped;

    private volatile long stopDeadline;

    private volatile boolean ended;

    /**
     * Creates a loop.
     * @param limiter shared with the loops of the queue's other partitions
     */
    public PollLoop(PartitionBinding binding, PollLoopContext context, HandlerConcurrencyLimiter limiter) {
        this.binding = binding;
        this.context = context;
        this.limiter = limiter;
        this.log = new PollLoopLog(binding, context);
        limiter.register();
        this.scheduler = new PollLoopScheduler(this::runOnce, context::runStoreTask, context.timer(),
                context.nanoTime());
        this.leaseRenewer = new LeaseRenewer(binding, context);
        this.claims = new PartitionClaimer(binding, context, limiter, this.scheduler, this.leaseRenewer::jumped);
        this.acknowledgements = new AcknowledgementBatcher(binding, context, this.leaseRenewer);
        this.processor = new DeliveryProcessor(binding, context, this::finished);
    }

    /** Returns a future that completes once the loop has ended, after a stop. */
    public CompletableFuture<Void> end() {
        return this.end;
    }

    /**
     * Starts the iterations, unless the loop was stopped before.
     * @return {@link #end()}
     */
    public CompletableFuture<Void> start(WakeUps wakeUps) {
        if (this.stopped) {
            this.ended = true;
            this.end.complete(null);
            return this.end;
        }
        try {
            onEnd(wakeUps.listen(this.binding.partition(), this::onWakeUp)::close);
            onEnd(this.leaseRenewer.start());
            // Ensures an iteration in each safety poll, even if the schedule fails.
            onEnd(this.context.timer().every(this.context.settings().safetyPoll(), this.scheduler::requestIteration));
        }
        catch (Throwable ex) {
            this.end.complete(null);
            throw ex;
        }
        this.scheduler.start();
        return this.end;
    }

    private void onEnd(Runnable task) {
        this.end.whenComplete((done, ex) -> task.run());
    }

    void onWakeUp(WakeUpSignal signal) {
        // Mostly follows a resubscription, which shows that the store is reachable.
        boolean back = signal.kind() == WakeUpSignal.Kind.POLL_NOW && this.claims.endBackoff();
        if (this.claims.onWakeUp(signal) || back) {
            this.scheduler.requestIteration();
        }
    }

    /** Returns how long ago the last iteration was, and whether there is work. */
    public PollLoopStatus status() {
        boolean idle = this.scheduler.isIdle() && this.pending.isEmpty() && this.acknowledgements.isEmpty();
        return new PollLoopStatus(this.binding.partition(), this.scheduler.sinceLastIteration(),
                this.context.settings().safetyPoll(), idle, this.claims.inFlight());
    }

    /** Ends or resumes claiming; running handlers continue. */
    public void pause(boolean pause) {
        setPaused(pause);
        requestIteration();
    }

    /** Ends or resumes claiming with the next iteration. */
    public void setPaused(boolean paused) {
        this.paused = paused;
    }

    /** Requests an iteration, after a change of settings. */
    public void requestIteration() {
        this.scheduler.requestIteration();
    }

    /**
     * Ends the loop: releases messages that are not started, and waits for running
     * handlers.
     * @param timeout how long to wait
     */
    public void stop(Duration timeout) {
        this.stopDeadline = this.context.now() + Nanos.of(timeout);
        this.stopped = true;
        this.scheduler.requestIteration();
    }

    /**
     * Runs one iteration: settles finished messages, and claims and dispatches due ones
     * as permits allow; once stopped, ends the loop.
     * @return how long until the next iteration, unless one is requested; {@code null}
     * for no limit
     */
    @Nullable Duration runOnce() {
        try {
            if (this.ended) {
                return null;
            }
            if (this.pending.isEmpty() || overlaps()) {
                send();
            }
            PendingCalls calls = this.pending.peek();
            if (calls == null) {
                return this.stopped ? drain() : untilNext();
            }
            if (!calls.answers().isDone()) {
                return this.claims.untilCapacityReturned(calls.claim());
            }
            Duration backoff = onAllAnswers();
            if (this.stopped) {
                return (backoff != null) ? Nanos.shorter(backoff, untilDeadline()) : Duration.ZERO;
            }
            if (backoff == null && this.pending.isEmpty() && this.claims.isQueued()) {
                return Duration.ZERO; // a permit may have been offered meanwhile
            }
            return (backoff != null) ? backoff : untilNext();
        }
        catch (Throwable ex) {
            if (this.ended) {
                this.end.complete(null);
            }
            Duration wait = backoff(this.failures + 1);
            this.log.failed(ex, wait);
            return wait;
        }
    }

    /** Returns whether to send calls although the answers to others are pending. */
    private boolean overlaps() {
        return this.pending.size() == 1 && !this.pending.element().answers().isDone() && !this.paused && !this.stopped
                && this.claims.overlaps();
    }

    /** Sends due acknowledgements and claims. */
    private void send() {
        // Messages of a pending claim are released by the drain that follows its answer.
        if (this.stopped && (!this.pending.isEmpty() || !beginDrain())) {
            return;
        }
        if (this.limiter.isStalled()) {
            this.limiter.forgetDroppedStart();
            releaseUnstarted();
        }
        this.limiter.startNext();
        Duration timeUntilFlush = this.acknowledgements.timeUntilFlush(this.context.now());
        boolean ripe = timeUntilFlush != null && (timeUntilFlush.isZero() || this.paused || this.stopped);
        List<AcknowledgementBatcher.Sent> sent = ripe ? this.acknowledgements.send() : List.of();
        PartitionClaimer.Sent claim = beginClaim();
        if (sent.isEmpty() && claim == null) {
            return;
        }
        PendingCalls calls = new PendingCalls(sent, claim, this.failures);
        this.pending.add(calls);
        if (!calls.answers().isDone()) {
            this.claims.answersPending();
            calls.answers().whenComplete((done, ex) -> this.scheduler.requestIteration());
        }
    }

    private PartitionClaimer.@Nullable Sent beginClaim() {
        if (this.paused || this.stopped) {
            this.limiter.leave(this.scheduler);
            return null;
        }
        return this.claims.send();
    }

    /**
     * Processes the answers that have arrived, in the order of the calls. Several may
     * have caused one iteration.
     * @return how long to back off if a call failed, else {@code null}
     */
    private @Nullable Duration onAllAnswers() {
        Duration longest = null;
        PendingCalls calls = this.pending.peek();
        while (calls != null && calls.answers().isDone()) {
            this.pending.remove();
            Duration backoff = onAnswers(calls);
            longest = (backoff == null || longest != null && longest.compareTo(backoff) > 0) ? longest : backoff;
            calls = this.pending.peek();
        }
        return longest;
    }

    /**
     * Processes the answers to calls that were sent together.
     * @return how long to back off if a call failed, else {@code null}
     */
    private @Nullable Duration onAnswers(PendingCalls calls) {
        boolean settled = this.acknowledgements.accept(calls.sent());
        boolean found = calls.claim() == null || onClaimAnswer(calls.claim());
        if (!settled || !found) {
            // One outage counts once for calls that were pending together.
            Duration wait = backoff((calls.failures() == this.failures) ? this.failures + 1 : this.failures);
            if (!found) {
                this.claims.backOff(wait);
            }
            return wait;
        }
        this.failures = 0;
        if (!calls.sent().isEmpty() && this.context.primaryPartitions() == null) {
            // Messages that waited in their groups may be due, perhaps without a wake-up.
            this.claims.onWakeUp(WakeUpSignal.POLL_NOW);
        }
        return null;
    }

    /** Returns how long to wait until the next iteration. */
    private Duration untilNext() {
        Duration timeUntilFlush = this.acknowledgements.timeUntilFlush(this.context.now());
        Duration wait = (timeUntilFlush != null) ? timeUntilFlush : this.context.settings().safetyPoll();
        if (this.paused) {
            this.claims.resign();
            return wait;
        }
        return Nanos.shorter(this.claims.untilNext(), wait);
    }

    /** Returns {@code false} if the claim failed. */
    private boolean onClaimAnswer(PartitionClaimer.Sent sent) {
        PartitionClaimer.Answer answer = this.claims.accept(sent);
        if (answer == null) {
            return false;
        }
        ClaimResult claim = answer.claim();
        // Comes first, as the permits belong to these messages from here on.
        boolean dispatched = dispatch(claim.messages(),
                new InFlightMessage.Times(sent.sentAt(), answer.at(), claim.now()));
        this.context.outage().recovered(StoreOutageLog.CLAIM, this.binding.partition());
        this.context.partitions().onVersion(this.binding.partition(), claim.partitionsVersion());
        this.binding.expired(claim.expired());
        this.log.deadLettered(claim.deadLettered());
        this.log.summarize();
        logger.debug("Claimed {} of {} from queue '{}'", claim.messages().size(), sent.limit(), this.binding.queue());
        return dispatched;
    }

    /** Renews the leases of claimed messages, and assigns the messages to tasks. */
    private List<HandlerTask> hold(List<ClaimedMessage> messages, InFlightMessage.Times times) {
        boolean batch = this.binding.handler().isBatch();
        List<HandlerTask> tasks = new ArrayList<>(batch ? 1 : messages.size());
        for (ClaimedMessage message : messages) {
            if (tasks.isEmpty() || !batch) {
                tasks.add(new HandlerTask());
            }
            this.leaseRenewer
                .add(new InFlightMessage(message, times, this.binding.settings().lease(), tasks.get(tasks.size() - 1)));
        }
        return tasks;
    }

    private boolean dispatch(List<ClaimedMessage> messages, InFlightMessage.Times times) {
        try {
            List<HandlerTask> tasks = hold(messages, times);
            if (!this.stopped) {
                this.limiter.add(tasks, this::handle);
            }
            return true;
        }
        catch (Throwable ex) {
            this.log.noThread(ex);
            releaseUnstarted();
            return false;
        }
    }

    private void handle(HandlerTask task) {
        // A stop releases messages that are not started.
        if (!this.stopped && task.tryStart()) {
            this.processor.process(task);
        }
        else {
            this.limiter.free();
        }
    }

    /** Ends a task, and acknowledges those of its messages that are handled. */
    private void finished(HandlerTask task, List<InFlightMessage> handled) {
        boolean plan = false;
        for (InFlightMessage message : handled) {
            plan |= this.acknowledgements.add(message);
        }
        if (handled.size() < task.size()) {
            task.messages().stream().filter((message) -> !handled.contains(message)).forEach(this.leaseRenewer::remove);
            if (this.context.primaryPartitions() == null) {
                // The messages may be due again soon, perhaps without a wake-up.
                this.claims.onWakeUp(WakeUpSignal.POLL_NOW);
                plan = true;
            }
        }
        boolean wanted = this.claims.finished(task) || plan || this.stopped;
        if (this.ended) {
            flush();
        }
        else if (wanted) {
            this.scheduler.requestIteration();
        }
        if (this.limiter.needsMore()) {
            this.limiter.wakeWaiters();
        }
    }

    private void releaseUnstarted() {
        List<InFlightMessage> unstarted = this.leaseRenewer.takeUnstarted();
        // Releases permits first: other loops must not wait for this one's server.
        this.claims.release((int) unstarted.stream().map(InFlightMessage::task).distinct().count());
        this.limiter.removeReleased();
        this.released = CompletableFuture.allOf(this.released, this.leaseRenewer.release(unstarted));
    }

    /** Releases unstarted messages; returns whether the stop has time left. */
    private boolean beginDrain() {
        if (!this.draining) {
            this.draining = true;
            this.limiter.leave(this.scheduler);
            this.claims.close();
            releaseUnstarted();
        }
        return !untilDeadline().isZero();
    }

    /** Ends the loop if no handler runs, or the stop has timed out. */
    private @Nullable Duration drain() {
        // The stop may have been requested during this iteration.
        if (beginDrain() && !isIdle()) {
            return untilDeadline();
        }
        this.ended = true;
        this.log.close();
        if (this.claims.inFlight() > 0) {
            this.log.outlived(this.claims.inFlight());
            this.leaseRenewer.interruptHandlers();
        }
        CompletableFuture.allOf(this.released, flush()).whenComplete((done, ex) -> {
            this.context.outage().forget(this.binding.partition());
            this.end.complete(null);
        });
        return null;
    }

    /** Acknowledges once the loop has ended, without waiting for the answers. */
    private CompletableFuture<Void> flush() {
        List<AcknowledgementBatcher.Sent> sent = this.acknowledgements.send();
        return new PendingCalls(sent, null, 0).answers().handle((done, ex) -> {
            this.acknowledgements.accept(sent);
            return null;
        });
    }

    private boolean isIdle() {
        return this.claims.inFlight() == 0 && this.acknowledgements.isEmpty();
    }

    private Duration backoff(int failures) {
        this.failures = failures;
        Duration wait = STORE_BACKOFF.delayAfter(this.failures, this.context::random);
        return Nanos.shorter(wait, this.context.settings().safetyPoll());
    }

    private Duration untilDeadline() {
        return Duration.ofNanos(Math.max(0, this.stopDeadline - this.context.now()));
    }

    /**
     * Holds the calls that were sent back to back: acknowledgements, and a claim.
     *
     * @param failures how many calls had failed one after the other before these
     */
    private record PendingCalls(List<AcknowledgementBatcher.Sent> sent, PartitionClaimer.@Nullable Sent claim,
            int failures, CompletableFuture<Void> answers) {

        PendingCalls(List<AcknowledgementBatcher.Sent> sent, PartitionClaimer.@Nullable Sent claim, int failures) {
            this(sent, claim, failures,
                    CompletableFuture.allOf(Stream
                        .concat(sent.stream().map(AcknowledgementBatcher.Sent::answers),
                                Stream.ofNullable(claim).map(PartitionClaimer.Sent::answer))
                        .toArray(CompletableFuture<?>[]::new)));
        }

    }

}
