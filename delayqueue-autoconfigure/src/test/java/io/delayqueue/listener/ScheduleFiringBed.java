package io.delayqueue.listener;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.QueueName;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.fixtures.ManualNanoClock;
import io.delayqueue.listener.poll.LoopTimer;
import io.delayqueue.listener.poll.ManualTimer;
import io.delayqueue.memory.InMemoryMessageStore;
import io.delayqueue.store.MessageEventRecorderFactory;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.schedule.DeclarationResult;
import io.delayqueue.store.schedule.FireResult;
import io.delayqueue.store.schedule.LocalSchedules;
import io.delayqueue.store.schedule.OccurrenceEvents;
import io.delayqueue.store.schedule.ScheduleChange;
import io.delayqueue.store.schedule.ScheduleChanger;
import io.delayqueue.store.schedule.ScheduleCursor;
import io.delayqueue.store.schedule.ScheduleState;
import io.delayqueue.store.schedule.ScheduleStep;
import io.delayqueue.store.schedule.ScheduleStore;
import io.delayqueue.store.schedule.StepOutcome;
import io.delayqueue.store.schedule.ScheduleSnapshot;
import io.delayqueue.store.schedule.ScheduleSnapshotPage;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/**
 * Provides tests with two nodes that fire schedules on one store, whose clock the test
 * moves.
 */
abstract class ScheduleFiringBed {

    static final QueueName QUEUE = new QueueName("reports");

    static final Duration SAFETY_POLL = Duration.ofSeconds(5);

    static final Duration MINUTE = Duration.ofMinutes(1);

    final ManualNanoClock clock = new ManualNanoClock();

    final ManualTimer timer = new ManualTimer(this.clock);

    /** How far the clock of the store is ahead of that of the nodes. */
    Duration step = Duration.ZERO;

    final EnvelopeCodec codec = new EnvelopeCodec(JsonMapper.builder().build());

    final InMemoryMessageStore store = new InMemoryMessageStore(this.codec,
            () -> Duration.between(Instant.EPOCH, this.clock.instant().plus(this.step)).toNanos()
                    / TimeUnit.MICROSECONDS.toNanos(1));

    final Node one = new Node();

    final Node two = new Node();

    static ScheduleDefinition minutely() {
        return ScheduleDefinition.fixedRate("minutely", MINUTE).build();
    }

    void put(Node node) {
        put(node, minutely());
    }

    void put(Node node, ScheduleDefinition definition) {
        new ScheduleChanger(node.schedules, OccurrenceEvents.NONE)
            .put(QUEUE, definition, node.schedules.codec().write(definition, "{}"))
            .join();
        settle();
    }

    /** Moves the clock, and answers calls at the time at which they are made. */
    void advance(Duration time) {
        Duration step = Duration.ofMillis(10);
        for (Duration left = time; left.compareTo(Duration.ZERO) > 0; left = left.minus(step)) {
            this.timer.advance(step);
            settle();
        }
    }

    void settle() {
        for (int i = 0; i < 6; i++) {
            this.timer.runDue();
        }
    }

    ScheduleState state() {
        return this.store.schedules().find(QUEUE, "minutely").join().state();
    }

    List<Long> sent() {
        List<Long> sent = new ArrayList<>(this.one.sent);
        sent.addAll(this.two.sent);
        return sent.stream().sorted().toList();
    }

    static List<Long> minutes(int count) {
        List<Long> minutes = new ArrayList<>();
        for (int i = 1; i <= count; i++) {
            minutes.add(ManualNanoClock.START.plus(MINUTE.multipliedBy(i)).toEpochMilli());
        }
        return minutes;
    }

    /** Represents a process that uses the store. */
    final class Node implements ScheduleStore {

        final LocalSchedules schedules = new LocalSchedules(this, ScheduleFiringBed.this.codec,
                LocalSchedules.MISFIRE_THRESHOLD, "reporting");

        final List<Long> sent = new ArrayList<>();

        /** The timer of the loops, which fires schedules too. */
        LoopTimer processTimer = ScheduleFiringBed.this.timer;

        ScheduleFiring firing;

        int calls;

        /** Calls that try to advance schedules. */
        int attempts;

        int declarations;

        Duration latency = Duration.ZERO;

        /** The answer to {@code find}; {@code null} for that of the store. */
        @Nullable CompletableFuture<ScheduleSnapshot> found;

        @Nullable Thread changedBy;

        boolean dead;

        boolean losesReplies;

        /** Whether steps fail while reads succeed. */
        boolean rejectsSteps;

        /** Whether steps have no effect, and what is due remains. */
        boolean ignoresSteps;

        boolean hidesDue;

        void firing() {
            this.firing = new ScheduleFiring(this.schedules, ScheduleFiringBed.this.store, this.processTimer,
                    Runnable::run, SAFETY_POLL, MessageEventRecorderFactory.NONE);
        }

        void start() {
            firing();
            this.firing.add(QUEUE);
        }

        <T> CompletableFuture<T> away() {
            return CompletableFuture
                .failedFuture(new StoreUnavailableException("The store is away", Effect.UNKNOWN, null));
        }

        @Override
        public CompletableFuture<FireResult> fire(QueueName queue, @Nullable String node, List<ScheduleStep> steps) {
            this.calls++;
            this.attempts += steps.isEmpty() ? 0 : 1;
            if (this.dead || (this.rejectsSteps && !steps.isEmpty())) {
                return away();
            }
            return answer(queue, node, steps).thenCompose(this::delayed);
        }

        CompletableFuture<FireResult> delayed(FireResult answer) {
            CompletableFuture<FireResult> delayed = new CompletableFuture<>();
            if (this.latency.isZero()) {
                delayed.complete(answer);
            }
            else {
                ScheduleFiringBed.this.timer.after(this.latency, () -> delayed.complete(answer));
            }
            return delayed;
        }

        CompletableFuture<FireResult> answer(QueueName queue, @Nullable String node, List<ScheduleStep> steps) {
            if (this.ignoresSteps || this.hidesDue) {
                List<StepOutcome> stale = steps.stream().map((step) -> StepOutcome.STALE).toList();
                return ScheduleFiringBed.this.store.schedules()
                    .fire(queue, node, List.of())
                    .thenApply((answer) -> new FireResult(answer.now(), answer.nextAt(), answer.firingNode(),
                            answer.firedAt(), answer.count(), stale, this.hidesDue ? Map.of() : answer.due(),
                            Map.of()));
            }
            return ScheduleFiringBed.this.store.schedules().fire(queue, node, steps).thenCompose((answer) -> {
                for (int i = 0; i < steps.size(); i++) {
                    if (answer.outcomes().get(i).equals(StepOutcome.SENT)) {
                        this.sent.add(steps.get(i).next());
                    }
                }
                return this.losesReplies ? away() : CompletableFuture.completedFuture(answer);
            });
        }

        @Override
        public CompletableFuture<Boolean> resign(QueueName queue, String node) {
            return ScheduleFiringBed.this.store.schedules().resign(queue, node);
        }

        @Override
        public CompletableFuture<Boolean> change(QueueName queue, ScheduleChange change) {
            this.changedBy = Thread.currentThread();
            return ScheduleFiringBed.this.store.schedules().change(queue, change);
        }

        @Override
        public CompletableFuture<DeclarationResult> declare(QueueName queue, String owner, boolean removes,
                Map<String, String> fingerprints) {
            this.declarations++;
            if (this.dead) {
                return away();
            }
            return ScheduleFiringBed.this.store.schedules().declare(queue, owner, removes, fingerprints);
        }

        @Override
        public CompletableFuture<ScheduleSnapshot> find(QueueName queue, String name) {
            return (this.found != null) ? this.found : ScheduleFiringBed.this.store.schedules().find(queue, name);
        }

        @Override
        public CompletableFuture<ScheduleSnapshotPage> list(QueueName queue, ScheduleCursor after, int limit) {
            return ScheduleFiringBed.this.store.schedules().list(queue, after, limit);
        }

    }

    /**
     * Drops the tasks that are left when it ends, and later ones, as the timer of a
     * process does. Its background timers end alone.
     */
    record EndingTimer(LoopTimer timer, AtomicBoolean ended) implements LoopTimer {

        @Override
        public long nanoTime() {
            return this.timer.nanoTime();
        }

        @Override
        public Runnable after(Duration delay, Runnable task) {
            return this.timer.after(delay, () -> run(task));
        }

        @Override
        public Runnable every(Duration period, Runnable task) {
            return this.timer.every(period, () -> run(task));
        }

        private void run(Runnable task) {
            if (!this.ended.get()) {
                task.run();
            }
        }

        @Override
        public void pause(Duration duration) {
            this.timer.pause(duration);
        }

        @Override
        public double random() {
            return this.timer.random();
        }

        @Override
        public LoopTimer background(String name) {
            return new EndingTimer(this.timer, new AtomicBoolean());
        }

        @Override
        public void close() {
            this.ended.set(true);
        }

    }

}
