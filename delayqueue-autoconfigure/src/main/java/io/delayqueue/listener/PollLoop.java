package io.delayqueue.listener;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import io.delayqueue.DeadLetterEvent;
import io.delayqueue.DelayQueueException;
import io.delayqueue.engine.Claim;
import io.delayqueue.engine.ClaimRequest;
import io.delayqueue.engine.ClaimedMessage;
import io.delayqueue.engine.Lease;
import io.delayqueue.engine.MessageStore;
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
 * on top. What was finished since the last time is acknowledged along with the next
 * claim, sent back to back: one round trip for both.
 * <p>
 * A claim that failed may have leased messages to nobody all the same. The next one has
 * room for a single message, and each that works doubles the room, or repeating it would
 * take away as many messages again each time.
 * <p>
 * <strong>Threads.</strong> One thread runs the loop; only it claims. A handler thread
 * touches the lease that it was given, hands it back for acknowledgement, gives its room
 * back, and rings: in this order, or the loop could wake, find no room and sleep again.
 * Any thread pauses, resumes and stops. The room of a message belongs to whom the stage
 * of its {@link HeldLease} names: to the handler thread that began, or the loop that gave
 * back.
 */
final class PollLoop implements Runnable {

    private static final Logger logger = LoggerFactory.getLogger(PollLoop.class);

    static final RetryPolicy STORE_BACKOFF = new RetryPolicy(Duration.ofMillis(100), 2, Duration.ofSeconds(5), 0.2);

    private static final Duration CLAIMED_AHEAD_PAUSE = Handlers.AHEAD.multipliedBy(2);

    private static final double SAFETY_POLL_JITTER = 0.2;

    private final ListenedQueue queue;

    private final WorkerContext context;

    private final Handlers handlers;

    /** Claimed by this loop, or being claimed, and not finished. */
    private final AtomicInteger held = new AtomicInteger();

    private final Duration safetyPoll;

    private final Alarm alarm = new Alarm();

    private final LeaseKeeper leaseKeeper;

    private final Acknowledgements acknowledgements;

    private final DeliveryProcessor processor;

    private int failures;

    private int roomLimit = MessageStore.BATCH_LIMIT;

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
        this.safetyPoll = jittered(context.settings().safetyPoll(), context.random());
        this.leaseKeeper = new LeaseKeeper(queue, context);
        this.acknowledgements = new Acknowledgements(queue, context, this.leaseKeeper);
        this.processor = new DeliveryProcessor(queue, context, this::finished);
    }

    /**
     * Up to a fifth less, so that processes do not look in step; never later than told.
     */
    private static Duration jittered(Duration safetyPoll, double random) {
        return safetyPoll.minusMillis(Math.round(safetyPoll.toMillis() * SAFETY_POLL_JITTER * random));
    }

    /** Starts the thread; everything about it ends when {@link #run()} does. */
    Thread start(WakeUps wakeUps) {
        WakeUps.Subscription subscription = wakeUps.listen(this.queue.partition(), (signal) -> this.alarm.ring());
        Timer.Scheduled renewal = this.leaseKeeper.start();
        Thread thread = new Thread(() -> {
            try {
                run();
            }
            finally {
                subscription.close();
                renewal.cancel();
            }
        }, "delayqueue-" + this.queue.listenerId() + "-" + this.queue.partition());
        // Keeps the JVM of an application up that has nothing but handlers.
        thread.setDaemon(false);
        thread.start();
        return thread;
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
        List<Acknowledgements.Sent> sent = this.acknowledgements.send();
        long sentAt = this.context.now();
        int room = reserve();
        CompletableFuture<Answer> claim = (room > 0) ? claim(room) : null;
        boolean settled = this.acknowledgements.await(sent);
        Duration wait = (claim != null) ? accept(claim, room, sentAt) : this.safetyPoll;
        if (!settled || wait == null) {
            return backoff();
        }
        this.failures = 0;
        // While messages wait here, finished handlers do not ring for each.
        return (this.handlers.hasWaiting() && wait.compareTo(CLAIMED_AHEAD_PAUSE) > 0) ? CLAIMED_AHEAD_PAUSE : wait;
    }

    private int reserve() {
        if (this.paused || this.stopped) {
            this.handlers.leave(this.alarm);
            return 0;
        }
        int room = this.handlers.reserve(this.roomLimit, this.alarm);
        this.held.addAndGet(room);
        return room;
    }

    private void giveBackRoom(int room) {
        this.held.addAndGet(-room);
        this.handlers.giveBack(room);
    }

    private CompletableFuture<Answer> claim(int room) {
        ListenerSettings settings = this.queue.settings();
        ClaimRequest request = new ClaimRequest(room, settings.lease(), settings.expiredPolicy());
        return StoreCalls.send(() -> this.context.store().claim(this.queue.partition(), request))
            .thenApply((claim) -> new Answer(claim, this.context.now()));
    }

    /** Waits for the claim; {@code null} if it failed. */
    private @Nullable Duration accept(CompletableFuture<Answer> claimed, int room, long sentAt) {
        Answer answer;
        try {
            answer = claimed.join();
        }
        catch (RuntimeException ex) {
            giveBackRoom(room);
            Throwable cause = StoreCalls.unwrap(ex);
            if (!changedNothing(cause)) {
                this.roomLimit = 1;
            }
            this.context.outage().failed(Outage.CLAIM, this.queue.name(), cause);
            return null;
        }
        this.roomLimit = Math.min(2 * this.roomLimit, MessageStore.BATCH_LIMIT);
        Claim claim = answer.claim();
        giveBackRoom(room - claim.messages().size());
        // First of all, as the room of these messages is theirs from here on.
        boolean dispatched = dispatch(hold(claim.messages(), new HeldLease.Times(sentAt, answer.at(), claim.now())));
        this.context.outage().recovered(Outage.CLAIM, this.queue.name());
        this.context.partitions().noticed(this.queue.name(), claim.partitionsVersion());
        this.queue.counters().expired.add(claim.expired());
        claim.buried().forEach(this::tell);
        logger.debug("Claimed {} of {} from queue '{}'", claim.messages().size(), room, this.queue.name());
        return dispatched ? untilNext(answer) : null;
    }

    private static boolean changedNothing(Throwable failure) {
        return failure instanceof DelayQueueException known && known.effect() == DelayQueueException.Effect.NONE;
    }

    /** Elsewhere, as who listens for it may take its time. */
    private void tell(DeadLetterEvent death) {
        this.queue.counters().dead.increment();
        logger.error("Message '{}' of queue '{}' is dead: {}", death.id(), death.queue(), death.reason());
        this.context.elsewhere(() -> this.context.tell(death));
    }

    private Duration untilNext(Answer answer) {
        Duration nextIn = answer.claim().nextIn();
        if (nextIn == null) {
            return this.safetyPoll;
        }
        Duration wait = nextIn.minusNanos(this.context.now() - answer.at());
        if (wait.isNegative()) {
            return Duration.ZERO;
        }
        return (wait.compareTo(this.safetyPoll) < 0) ? wait : this.safetyPoll;
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
        if (acknowledge) {
            this.acknowledgements.add(lease);
        }
        else {
            this.leaseKeeper.remove(lease);
        }
        this.held.decrementAndGet();
        this.handlers.finished();
        if (this.handlers.wantsMore()) {
            this.alarm.ring();
            this.handlers.ringThoseInLine();
        }
        if (this.ended) {
            flush();
        }
    }

    private void giveBackUnstarted() {
        List<HeldLease> unstarted = this.leaseKeeper.takeUnstarted();
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
        giveBackRoom(unstarted.size());
    }

    private void windDown() {
        this.handlers.leave(this.alarm);
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
        return this.held.get();
    }

    private Duration backoff() {
        this.failures++;
        Duration wait = STORE_BACKOFF.delayAfter(this.failures, this.context::random);
        return (wait.compareTo(this.safetyPoll) < 0) ? wait : this.safetyPoll;
    }

    /**
     * The answer to a claim.
     *
     * @param claim the answer
     * @param at when it came
     */
    private record Answer(Claim claim, long at) {
    }

}
