package io.delayqueue.listener;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.delayqueue.DeadLetterEvent;
import io.delayqueue.engine.Claim;
import io.delayqueue.engine.ClaimedMessage;
import io.delayqueue.engine.Lease;
import io.delayqueue.engine.Signal;
import io.delayqueue.engine.WakeUps;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims the due messages of one queue for one listener, hands each to a handler thread,
 * and acknowledges those that are handled.
 * <p>
 * Room is reserved before a message is claimed, so this loop never holds more messages
 * that are not handled yet than {@link Handlers} has room for: those that are handled,
 * and what is claimed ahead. What waits there too long, because handlers have become
 * slow, is given back. Leases of messages that are handled and not acknowledged yet come
 * on top. What is finished waits a few milliseconds for company, and is then acknowledged
 * by one call, sent back to back with a claim if one is due: a handler that finishes is
 * no reason to claim, unless more was known to be due.
 * <p>
 * <strong>Threads.</strong> One thread runs the loop; only it claims. A handler thread
 * touches the lease that it was given, hands it back for acknowledgement, gives its room
 * back, and rings if the loop waits for that: in this order, or the loop could wake, find
 * no room and sleep again. Any thread pauses, resumes and stops. The room of a message
 * belongs to whom the stage of its {@link HeldLease} names: to the handler thread that
 * began, or the loop that gave back.
 */
final class PollLoop implements Runnable {

    private static final Logger logger = LoggerFactory.getLogger(PollLoop.class);

    static final RetryPolicy STORE_BACKOFF = new RetryPolicy(Duration.ofMillis(100), 2, Duration.ofSeconds(5), 0.2);

    private final ListenedQueue queue;

    private final WorkerContext context;

    private final Handlers handlers;

    private final Claims claims;

    private final Alarm alarm = new Alarm();

    private final LeaseKeeper leaseKeeper;

    private final Acknowledgements acknowledgements;

    private final DeliveryProcessor processor;

    private int failures;

    private volatile boolean paused;

    private volatile boolean stopped;

    private volatile long stopDeadline;

    private volatile boolean ended;

    /**
     * Makes a loop.
     * @param handlers of the queue, shared with the loops of its other partitions
     */
    PollLoop(ListenedQueue queue, WorkerContext context, Handlers handlers) {
        this.queue = queue;
        this.context = context;
        this.handlers = handlers;
        handlers.join();
        this.claims = new Claims(queue, context, handlers, this.alarm);
        this.leaseKeeper = new LeaseKeeper(queue, context);
        this.acknowledgements = new Acknowledgements(queue, context, this.leaseKeeper);
        this.processor = new DeliveryProcessor(queue, context, this::finished);
    }

    /** Starts the thread; everything about it ends when {@link #run()} does. */
    Thread start(WakeUps wakeUps) {
        WakeUps.Subscription subscription = wakeUps.listen(this.queue.partition(), this::heard);
        Timer.Scheduled renewal = this.leaseKeeper.start();
        Runnable end = () -> {
            subscription.close();
            renewal.cancel();
        };
        Thread thread = new Thread(() -> {
            try {
                run();
            }
            finally {
                end.run();
            }
        }, "delayqueue-" + this.queue.listenerId() + "-" + this.queue.partition());
        // Keeps the JVM of an application up that has nothing but handlers.
        thread.setDaemon(false);
        try {
            thread.start();
        }
        catch (Throwable ex) {
            end.run();
            throw ex;
        }
        return thread;
    }

    /** Takes notice of a wake-up. */
    void heard(Signal signal) {
        // Above all that of a subscription which is back, and so the store with it.
        boolean back = signal.kind() == Signal.Kind.LOOK && this.claims.endBackoff();
        if (this.claims.heard(signal) || back) {
            this.alarm.ring();
        }
    }

    void pause(boolean pause) {
        this.paused = pause;
        this.alarm.ring();
    }

    /**
     * Ends {@link #run()}: what is claimed and not begun is given back, handlers that run
     * are waited for.
     * @param timeout how long to wait
     */
    void stop(Duration timeout) {
        this.stopDeadline = this.context.now() + Nanos.of(timeout);
        this.stopped = true;
        this.alarm.ring();
    }

    @Override
    public void run() {
        while (!this.stopped) {
            try {
                Duration wait = pollGuarded();
                // A stop may have rung before the loop looked.
                if (!this.stopped) {
                    this.alarm.sleep(wait);
                }
            }
            catch (InterruptedException ex) {
                // Not by us: stopping takes no interrupt. Only the sleep ends.
                logger.debug("Loop of queue '{}' was interrupted and goes on", this.queue.name());
            }
        }
        windDown();
    }

    private Duration pollGuarded() {
        try {
            return pollOnce();
        }
        catch (Throwable ex) {
            Duration wait = backoff();
            logger.error("Loop of listener '{}' on queue '{}' failed; it goes on in {}", this.queue.listenerId(),
                    this.queue.name(), wait, ex);
            return wait;
        }
    }

    /**
     * Settles what is finished, and claims and hands out what is due as far as there is
     * room.
     * @return how long to sleep, unless the alarm rings or has rung meanwhile, until the
     * next call is of use
     */
    Duration pollOnce() {
        this.alarm.look();
        if (this.handlers.isStalled()) {
            giveBackUnstarted();
        }
        this.handlers.goOn();
        Duration lingers = this.acknowledgements.lingers(this.context.now());
        boolean ripe = lingers != null && (lingers.isZero() || this.paused);
        List<Acknowledgements.Sent> sent = ripe ? this.acknowledgements.send() : List.of();
        Claims.Sent claim = beginClaim();
        this.claims.awaitSoon(claim, sent.stream().map(Acknowledgements.Sent::answers).toList());
        boolean settled = this.acknowledgements.await(sent);
        boolean found = claim == null || accept(claim);
        if (!settled || !found) {
            Duration wait = backoff();
            if (!found) {
                this.claims.backOff(wait);
            }
            return wait;
        }
        if (ripe || claim != null) {
            this.failures = 0;
        }
        if (ripe && this.context.kept() == null) {
            // What stood behind these may be due, and perhaps nobody tells.
            this.claims.heard(Signal.LOOK);
        }
        return untilNext();
    }

    private Claims.@Nullable Sent beginClaim() {
        if (this.paused || this.stopped) {
            this.handlers.leave(this.alarm);
            return null;
        }
        return this.claims.send();
    }

    /** How long there is nothing to do unless the alarm rings. */
    private Duration untilNext() {
        Duration lingers = this.acknowledgements.lingers(this.context.now());
        Duration wait = (lingers != null) ? lingers : this.context.settings().safetyPoll();
        if (this.paused) {
            this.claims.resign();
            return wait;
        }
        Duration untilClaim = this.claims.untilNext();
        return (untilClaim.compareTo(wait) < 0) ? untilClaim : wait;
    }

    /** Waits for the claim; {@code false} if it failed. */
    private boolean accept(Claims.Sent sent) {
        Claims.Answer answer = this.claims.await(sent);
        if (answer == null) {
            return false;
        }
        Claim claim = answer.claim();
        // First of all, as the room of these messages is theirs from here on.
        boolean dispatched = dispatch(
                hold(claim.messages(), new HeldLease.Times(sent.sentAt(), answer.at(), claim.now())));
        this.context.outage().recovered(Outage.CLAIM, this.queue.name());
        this.context.partitions().noticed(this.queue.partition(), claim.partitionsVersion());
        this.queue.counters().expired.add(claim.expired());
        claim.buried().forEach(this::tell);
        logger.debug("Claimed {} of {} from queue '{}'", claim.messages().size(), sent.room(), this.queue.name());
        return dispatched;
    }

    /** Elsewhere, as who listens for it may take its time. */
    private void tell(DeadLetterEvent death) {
        this.queue.counters().dead.increment();
        logger.error("Message '{}' of queue '{}' is dead: {}", death.id(), death.queue(), death.reason());
        this.context.elsewhere(() -> this.context.tell(death));
    }

    private List<HeldLease> hold(List<ClaimedMessage> messages, HeldLease.Times times) {
        List<HeldLease> leases = new ArrayList<>(messages.size());
        for (ClaimedMessage message : messages) {
            HeldLease lease = new HeldLease(message, times, this.queue.settings().lease());
            this.leaseKeeper.add(lease);
            leases.add(lease);
        }
        return leases;
    }

    private boolean dispatch(List<HeldLease> leases) {
        try {
            if (!this.stopped) {
                this.handlers.add(leases, this::work);
            }
            return true;
        }
        catch (Throwable ex) {
            logger.error("No thread for the handlers of listener '{}' on queue '{}'; its messages are given back",
                    this.queue.listenerId(), this.queue.name(), ex);
            giveBackUnstarted();
            return false;
        }
    }

    private void work(HeldLease lease) {
        // What a stop finds unbegun it gives back.
        if (!this.stopped && lease.begin()) {
            this.processor.process(lease);
        }
        else {
            this.handlers.free();
        }
    }

    private void finished(HeldLease lease, boolean acknowledge) {
        boolean plan = false;
        if (acknowledge) {
            plan = this.acknowledgements.add(lease);
        }
        else {
            this.leaseKeeper.remove(lease);
            if (this.context.kept() == null) {
                // It may be due again soon, and perhaps nobody tells.
                this.claims.heard(Signal.LOOK);
                plan = true;
            }
        }
        if (this.claims.finished(lease) || plan || this.stopped) {
            this.alarm.ring();
        }
        if (this.handlers.wantsMore()) {
            this.handlers.ringThoseInLine();
        }
        if (this.ended) {
            flush();
        }
    }

    private void giveBackUnstarted() {
        List<HeldLease> unstarted = this.leaseKeeper.takeUnstarted();
        // Their room first: other loops need not wait for this one's server.
        this.claims.giveBack(unstarted.size());
        this.handlers.forgetGivenBack();
        for (List<HeldLease> batch : Batches.of(unstarted)) {
            List<Lease> leases = batch.stream().map(HeldLease::lease).toList();
            StoreCalls.send(() -> this.context.store().release(this.queue.partition(), leases, Duration.ZERO))
                .handle((answers, ex) -> {
                    if (ex != null) {
                        logger.warn(
                                "Cannot give back {} messages of queue '{}'; they are handled when their leases "
                                        + "run out: {}",
                                leases.size(), this.queue.name(), StoreCalls.unwrap(ex).toString());
                    }
                    return null;
                })
                .join();
        }
    }

    private void windDown() {
        this.handlers.leave(this.alarm);
        this.claims.resign();
        giveBackUnstarted();
        try {
            long left = this.stopDeadline - this.context.now();
            while (left > 0) {
                this.alarm.look();
                boolean settled = flush();
                if (isIdle()) {
                    break;
                }
                left = this.stopDeadline - this.context.now();
                Duration wait = Duration.ofNanos(Math.max(0, left));
                this.alarm.sleep((settled || wait.compareTo(STORE_BACKOFF.max()) < 0) ? wait : backoff());
            }
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
        this.ended = true;
        flush();
        this.context.outage().forget(this.queue.name());
        if (!isIdle()) {
            logger.warn(
                    "{} handlers of listener '{}' on queue '{}' outlive the shutdown timeout; their messages are "
                            + "handled again unless they end within their leases",
                    running(), this.queue.listenerId(), this.queue.name());
        }
    }

    private boolean flush() {
        return this.acknowledgements.await(this.acknowledgements.send());
    }

    private boolean isIdle() {
        return running() == 0 && this.acknowledgements.isEmpty();
    }

    private int running() {
        return this.claims.held();
    }

    private Duration backoff() {
        this.failures++;
        Duration wait = STORE_BACKOFF.delayAfter(this.failures, this.context::random);
        Duration safetyPoll = this.context.settings().safetyPoll();
        return (wait.compareTo(safetyPoll) < 0) ? wait : safetyPoll;
    }

}
