package io.delayqueue.listener;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;

import io.delayqueue.MessageLimits;
import io.delayqueue.QueueName;
import io.delayqueue.listener.poll.BackoffPolicy;
import io.delayqueue.listener.poll.LoopTimer;
import io.delayqueue.listener.poll.Nanos;
import io.delayqueue.store.MessageEventRecorderFactory;
import io.delayqueue.store.Partition;
import io.delayqueue.store.StoreFailures;
import io.delayqueue.store.StoreFutures;
import io.delayqueue.store.WakeUpSignal;
import io.delayqueue.store.WakeUps;
import io.delayqueue.store.schedule.DeclaredScheduleRegistrar;
import io.delayqueue.store.schedule.FireResult;
import io.delayqueue.store.schedule.LocalSchedules;
import io.delayqueue.store.schedule.OccurrenceEvents;
import io.delayqueue.store.schedule.ScheduleChanger;
import io.delayqueue.store.schedule.ScheduleStep;
import io.delayqueue.store.schedule.ScheduleStore;
import io.delayqueue.store.schedule.StepOutcome;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fires the schedules of the queues that this process listens to, and of those in which
 * it has put or declared schedules. The <em>firing node</em> of a queue decides the next
 * steps before they are due, and applies them by one call at that time. All other nodes
 * wait for half a second longer, and at least for a safety poll; then they fire what they
 * find late, if the firing node has applied nothing within that half second.
 * <p>
 * <strong>Threads.</strong> Any thread adds and removes queues, and closes. All else runs
 * on one thread, which starts with the first queue and does not wait for the store.
 */
final class ScheduleFiring implements LocalSchedules.Watcher {

    /** How long a node that is not the firing node waits for it. */
    static final Duration STANDBY = Duration.ofMillis(500);

    /** How often the next due time is read, as a change may be unknown. */
    static final Duration REREAD = Duration.ofMinutes(1);

    /** The least time between two declarations of a node. */
    private static final Duration DECLARE = Duration.ofSeconds(50);

    private static final Duration DECLARE_SPREAD = Duration.ofSeconds(10);

    /** Minimum time between reads after signals that rarely are about schedules. */
    private static final Duration RARE = Duration.ofSeconds(5);

    private static final BackoffPolicy BACKOFF = new BackoffPolicy(Duration.ofMillis(100), 2, Duration.ofSeconds(2),
            0.2);

    private static final Logger logger = LoggerFactory.getLogger(ScheduleFiring.class);

    private final LocalSchedules schedules;

    private final OccurrenceEvents events;

    private final WakeUps wakeUps;

    private final LoopTimer timer;

    /** Starts calls of the store, which must not block the timer. */
    private final Executor storeTasks;

    /** Whether the loops of the process use the timer too, which then outlives this. */
    private final boolean shared;

    /**
     * Minimum time that a node that is not the firing node waits if nothing is due, or
     * the firing node works on a backlog. So such a node calls rarely.
     */
    private final Duration standbyPoll;

    private final Map<QueueName, QueueFiring> queues = new ConcurrentHashMap<>();

    /** The queues that a listener listens to. */
    private final Set<QueueName> listened = ConcurrentHashMap.newKeySet();

    private final Runnable watch;

    private volatile boolean closed;

    /**
     * Creates it without starting a thread.
     * @param processTimer the timer of the loops of the process
     * @param storeTasks starts calls of the store: in the calling thread, unless they
     * block
     * @param events receives the occurrences that are sent and skipped
     */
    ScheduleFiring(LocalSchedules schedules, WakeUps wakeUps, LoopTimer processTimer, Executor storeTasks,
            Duration safetyPoll, MessageEventRecorderFactory events) {
        this.schedules = schedules;
        this.storeTasks = storeTasks;
        this.events = new OccurrenceEvents(events);
        this.wakeUps = wakeUps;
        this.timer = processTimer.background("delayqueue-schedules");
        this.shared = this.timer == processTimer;
        this.standbyPoll = (safetyPoll.compareTo(REREAD) < 0) ? safetyPoll : REREAD;
        this.watch = schedules.watch(this);
    }

    @Override
    public void declared(QueueName queue) {
        QueueFiring present = addIfAbsent(queue);
        if (present != null) {
            this.timer.after(Duration.ZERO, present.declarations::declare);
        }
    }

    @Override
    public void put(QueueName queue) {
        QueueFiring present = addIfAbsent(queue);
        if (present != null && (!this.wakeUps.announcesPrimaryPollers() || !present.isFiringNode())) {
            this.timer.after(Duration.ZERO, present::run); // No signal comes, or it
                                                           // leaves time to another node.
        }
    }

    /** Adds the queue of a listener, whose schedules are fired from now on. */
    void add(QueueName queue) {
        this.listened.add(queue);
        declared(queue);
    }

    /** Returns what fires a queue already; {@code null} if nothing did. */
    private @Nullable QueueFiring addIfAbsent(QueueName queue) {
        if (this.closed || this.schedules.store() == ScheduleStore.NONE) {
            return null;
        }
        QueueFiring added = new QueueFiring(queue);
        // Unlike get and putIfAbsent, this waits for a removal that has begun.
        QueueFiring firing = this.queues.compute(queue, (key, present) -> (present != null) ? present : added);
        if (firing != added) {
            return firing;
        }
        added.start();
        if (this.closed) {
            added.stop();
        }
        return null;
    }

    /**
     * Ends firing the schedules of a queue that has no listener left, unless this process
     * has put or declared some in it.
     */
    void remove(QueueName queue) {
        this.listened.remove(queue);
        endIfUnused(queue);
    }

    private void endIfUnused(QueueName queue) {
        this.queues.computeIfPresent(queue, (key, firing) -> {
            if (this.listened.contains(queue) || this.schedules.isAdded(queue)) {
                return firing;
            }
            firing.stop();
            return null;
        });
    }

    /** Returns whether a call to the store is pending. */
    boolean isCalling() {
        return this.queues.values().stream().anyMatch((queue) -> queue.calling);
    }

    /** Ends firing, and lets other nodes continue at once. */
    void close() {
        this.closed = true;
        this.watch.run();
        this.queues.values().forEach(QueueFiring::stop);
        if (!this.shared) {
            this.timer.close();
        }
    }

    /**
     * Fires the schedules of one queue. Fields without a comment belong to the thread.
     */
    private final class QueueFiring {

        private final QueueName queue;

        private final DeclarationLoop declarations;

        private final StepPreparer steps;

        private final ScheduleUse use;

        private final AtomicBoolean missing = new AtomicBoolean();

        /** Ends the subscription and the repeated runs; guarded by this. */
        private final List<Runnable> ends = new ArrayList<>();

        private volatile boolean stopped;

        private volatile boolean calling;

        /** The firing node by the last answer; {@code null} if there was none. */
        private volatile @Nullable String firingNode;

        /** Whether another call must follow the pending one. */
        private boolean again;

        private long calledAt;

        private long answeredAt;

        private @Nullable Runnable planned;

        private long plannedAt;

        private int failures;

        /** How many calls were without progress since one made some. */
        private int fruitless;

        /** Whether the queue is a ledger of which this process has no journal. */
        private boolean unrecorded;

        QueueFiring(QueueName queue) {
            this.queue = queue;
            this.use = new ScheduleUse(ScheduleFiring.this.schedules, queue, ScheduleFiring.this.timer.nanoTime());
            this.steps = new StepPreparer(ScheduleFiring.this.schedules, queue, ScheduleFiring.this.timer);
            this.declarations = new DeclarationLoop(
                    new DeclaredScheduleRegistrar(ScheduleFiring.this.schedules, queue, ScheduleFiring.this.events,
                            this::compute),
                    queue, ScheduleFiring.this.timer, ScheduleFiring.this.storeTasks,
                    () -> ScheduleFiring.this.listened.contains(queue));
        }

        /** Computes times, not on a thread of the store's connection. */
        private void compute(Runnable task) {
            ScheduleFiring.this.timer.after(Duration.ZERO, () -> ScheduleFiring.this.storeTasks.execute(task));
        }

        synchronized void start() {
            if (this.stopped) {
                return;
            }
            this.ends.add(ScheduleFiring.this.wakeUps.listen(Partition.first(this.queue), this::onWakeUp)::close);
            ScheduleFiring.this.timer.after(Duration.ZERO, this::run);
            this.ends.add(ScheduleFiring.this.timer.every(REREAD, this::run));
            ScheduleFiring.this.timer.after(Duration.ZERO, this.declarations::declare);
            this.ends.add(ScheduleFiring.this.timer.every(declarationPeriod(), this.declarations::declare));
        }

        /** Varies, so that nodes that start together do not declare together. */
        private Duration declarationPeriod() {
            return DECLARE.plusMillis(Math.round(DECLARE_SPREAD.toMillis() * ScheduleFiring.this.timer.random()));
        }

        synchronized void stop() {
            this.stopped = true;
            this.ends.forEach(Runnable::run);
            this.ends.clear();
            this.declarations.stop();
            ScheduleFiring.this.timer.after(Duration.ZERO, () -> plan(null));
            resign();
        }

        private void resign() {
            if (isFiringNode()) {
                StoreFutures
                    .send(ScheduleFiring.this.storeTasks,
                            () -> store().resign(this.queue, ScheduleFiring.this.schedules.node()))
                    .whenComplete((resigned, ex) -> {
                        if (ex != null) {
                            logger.debug("Not resigned as the firing node of queue '{}'; another one takes over", //
                                    this.queue, ex);
                        }
                    });
            }
        }

        private ScheduleStore store() {
            return ScheduleFiring.this.schedules.store();
        }

        private boolean isFiringNode() {
            return ScheduleFiring.this.schedules.node().equals(this.firingNode);
        }

        /** Other signals than those of schedules may stand for one that was lost. */
        private void onWakeUp(WakeUpSignal signal) {
            if (signal.kind() == WakeUpSignal.Kind.SCHEDULES_CHANGED) {
                ScheduleFiring.this.timer.after(Duration.ZERO, this::changed);
            }
            else if (signal.kind() == WakeUpSignal.Kind.POLL_NOW && this.missing.compareAndSet(false, true)) {
                ScheduleFiring.this.timer.upkeep(RARE, () -> {
                    this.missing.set(false);
                    run();
                });
            }
        }

        /** The firing node reads at once; it may have left, so the others read too. */
        private void changed() {
            if (this.firingNode == null || isFiringNode()) {
                run();
            }
            else {
                planEarlier(STANDBY);
            }
        }

        private void run() {
            if (this.stopped) {
                return;
            }
            if (this.calling) {
                this.again = true;
                return;
            }
            this.calling = true;
            this.again = false;
            this.calledAt = ScheduleFiring.this.timer.nanoTime();
            this.use.reading(this.calledAt);
            List<ScheduleStep> current = this.steps.take(this.calledAt);
            StoreFutures
                .send(ScheduleFiring.this.storeTasks,
                        () -> store().fire(this.queue, ScheduleFiring.this.schedules.node(), current))
                .whenComplete((firing, ex) -> {
                    long at = ScheduleFiring.this.timer.nanoTime();
                    // First: a stop that comes after it resigns by this field.
                    this.firingNode = (firing != null) ? firing.firingNode() : this.firingNode;
                    if (this.stopped) {
                        answeredAfterStop(current, firing);
                        return;
                    }
                    ScheduleFiring.this.timer.after(Duration.ZERO, () -> answered(current, at, firing, ex));
                });
        }

        /** Needs no timer, which may have ended. */
        private void answeredAfterStop(List<ScheduleStep> sent, @Nullable FireResult firing) {
            this.calling = false;
            if (firing != null) {
                ScheduleFiring.this.events.record(this.queue, sent, firing.outcomes());
                resign(); // The call may have made this node the firing one again.
            }
        }

        private void answered(List<ScheduleStep> sent, long at, @Nullable FireResult firing,
                @Nullable Throwable failure) {
            if (this.stopped) {
                answeredAfterStop(sent, firing);
                return;
            }
            this.calling = false;
            this.answeredAt = at;
            if (firing == null) {
                failed(failure);
            }
            else {
                succeeded(sent, firing);
            }
        }

        private void succeeded(List<ScheduleStep> sent, FireResult firing) {
            // Reads may succeed while steps fail, as the database of a ledger is away.
            if (this.failures > 0 && (!sent.isEmpty() || firing.due().isEmpty())) {
                if (this.declarations.hasSchedules()) {
                    logger.info("The schedules of queue '{}' are fired again", this.queue);
                }
                this.failures = 0;
            }
            record(sent, firing);
            this.declarations.read(firing);
            if (this.use.isOver(firing, this.answeredAt)) {
                endIfUnused(this.queue);
            }
            proceed(sent, firing);
            if (this.again) {
                run();
            }
        }

        private void proceed(List<ScheduleStep> sent, FireResult firing) {
            boolean fruitless = firing.isWithoutProgress(!sent.isEmpty());
            this.fruitless += fruitless ? 1 : 0;
            // The first steps that have no effect are based on a state that has changed.
            if (fruitless && (this.fruitless > 1 || firing.due().isEmpty())) {
                plan(BACKOFF.delayAfter(this.fruitless, ScheduleFiring.this.timer::random));
            }
            else if (firing.due().isEmpty()) {
                this.fruitless = 0;
                plan(untilNext(firing));
                this.steps.prepare(firing, this.answeredAt);
            }
            else {
                this.fruitless = (sent.isEmpty() || fruitless) ? this.fruitless : 0;
                due(firing);
            }
        }

        /** Records the outcomes of steps, and the next times of declared schedules. */
        private void record(List<ScheduleStep> sent, FireResult firing) {
            for (int i = 0; i < sent.size(); i++) {
                ScheduleStep step = sent.get(i);
                if (firing.outcomes().get(i).isApplied()) {
                    this.declarations.advanced(step.name(), step.to().next());
                    this.steps.applied(step.name());
                }
            }
            ScheduleFiring.this.events.record(this.queue, sent, firing.outcomes());
            boolean refused = firing.outcomes().contains(StepOutcome.UNRECORDED);
            if (refused && !this.unrecorded) {
                logger.error(ScheduleChanger.withoutJournal(this.queue));
            }
            this.unrecorded = (this.unrecorded || refused) && !firing.outcomes().contains(StepOutcome.SENT);
        }

        private void failed(@Nullable Throwable failure) {
            this.failures++;
            Throwable cause = (failure != null) ? StoreFailures.unwrap(failure) : null;
            // The loops of listeners report an outage for queues without schedules.
            if (this.failures == 1 && this.declarations.hasSchedules()) {
                logger.warn("The schedules of queue '{}' are not fired; retrying until the store answers", this.queue,
                        cause);
            }
            else {
                logger.debug("The schedules of queue '{}' are still not fired", this.queue, cause);
            }
            plan(BACKOFF.delayAfter(this.failures, ScheduleFiring.this.timer::random));
        }

        private void due(FireResult firing) {
            Duration late = Duration.between(Objects.requireNonNull(firing.nextAt()), firing.now());
            if (firing.firingNode() != null && !isFiringNode()) {
                if (late.compareTo(STANDBY) < 0) {
                    plan(STANDBY.minus(late));
                    return;
                }
                if (firing.firedAt() != null && isWithinStandby(Duration.between(firing.firedAt(), firing.now()))) {
                    plan(ScheduleFiring.this.standbyPoll); // It works on a backlog.
                    return;
                }
            }
            this.steps.decide(firing, this.answeredAt);
            run();
        }

        /** A negative age is that of a step before Redis' clock was set back. */
        private static boolean isWithinStandby(Duration age) {
            return !age.isNegative() && age.compareTo(STANDBY) < 0;
        }

        /** Returns how long to wait; {@code null} if no schedule has a next time. */
        private @Nullable Duration untilNext(FireResult firing) {
            Instant next = firing.nextAt();
            if (next == null) {
                return null;
            }
            Duration wait = Duration.between(firing.now(), next)
                .minusNanos(ScheduleFiring.this.timer.nanoTime() - this.answeredAt);
            if (firing.firingNode() == null || isFiringNode()) {
                return wait;
            }
            Duration standby = wait.plus(STANDBY);
            return (standby.compareTo(ScheduleFiring.this.standbyPoll) > 0) ? standby : ScheduleFiring.this.standbyPoll;
        }

        private void plan(@Nullable Duration wait) {
            if (this.planned != null) {
                this.planned.run();
                this.planned = null;
            }
            if (wait != null) {
                Duration limited = (wait.compareTo(MessageLimits.MAX_DURATION) < 0) ? wait : MessageLimits.MAX_DURATION;
                this.plannedAt = ScheduleFiring.this.timer.nanoTime() + Nanos.of(limited);
                this.planned = ScheduleFiring.this.timer.after(limited, this::run);
            }
        }

        private void planEarlier(Duration wait) {
            long now = ScheduleFiring.this.timer.nanoTime();
            long at = Math.max(now, this.calledAt + Nanos.of(STANDBY)) + Nanos.of(wait);
            if (this.planned == null || at - this.plannedAt < 0) {
                plan(Duration.ofNanos(at - now));
            }
        }

    }

}
