package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import io.delayqueue.DelayQueueException;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.Partition;
import io.delayqueue.store.WakeUpSignal;
import io.delayqueue.store.routing.PartitionLayoutCache;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

/**
 * Tests P3 for loops of several partitions that share handlers: one whose server does not
 * answer, or that gets no permits, delays no message of another.
 */
class SharedHandlersTests {

    private static final Partition OTHER = new Partition(TestBed.QUEUE.queue(), 1);

    /** How long the permits of an unanswered claim are withheld from other loops. */
    private static final Duration SOON = Duration.ofMillis(100);

    private final TestBed bed = new TestBed();

    @Test
    void aPartitionThatHangsLeavesTheHandlersToTheOthers() {
        CompletableFuture<ClaimResult> never = new CompletableFuture<>();
        this.bed.store.hanging.put(OTHER, never);
        this.bed.store.add("m", Duration.ZERO);
        ListenerRuntime context = new ListenerRuntime(this.bed.store, (event) -> {
        }, Runnable::run, this.bed.timer, this.bed.context.outage(), this.bed.context.clocks(), TestBed.PARTITIONS,
                null, new ListenerRuntimeSettings(Duration.ZERO, Duration.ofDays(1), null, false), this.bed.clock);
        HandlerPermits handlers = new HandlerPermits(2, Runnable::run, this.bed.clock);
        PollLoop hanging = new PollLoop(this.bed.queue().at(OTHER), context, handlers);
        PollLoop other = new PollLoop(this.bed.queue(), context, handlers);
        hanging.start(this.bed.store);
        other.start(this.bed.store);
        assertThat(this.bed.handled).isEmpty();

        this.bed.timer.advance(SOON);
        assertThat(this.bed.handled).containsExactly("m");
        hanging.stop(Duration.ZERO);
        other.stop(Duration.ZERO);
        never.completeExceptionally(
                new StoreUnavailableException("No answer", DelayQueueException.Effect.UNKNOWN, null));
        assertThat(handlers.reserve(100, this.bed.alarm())).as("room, when all is given back").isEqualTo(2);
    }

    @Test
    void whatALateAnswerBringsComesOnTopOfTheRoom() {
        CompletableFuture<ClaimResult> late = new CompletableFuture<>();
        this.bed.store.hanging.put(OTHER, late);
        HandlerPermits handlers = new HandlerPermits(1, this.bed.context.threads(), this.bed.clock);
        PollLoop hanging = new PollLoop(this.bed.queue().at(OTHER), this.bed.context, handlers);
        handlers.join();
        Alarm other = this.bed.alarm();
        assertThat(hanging.turn()).isEqualTo(SOON);
        assertThat(handlers.reserve(100, other)).isZero();
        this.bed.clock.advance(SOON);
        assertThat(hanging.turn()).isNull();
        assertThat(handlers.reserve(100, other)).isOne();

        this.bed.store.add("m", Duration.ZERO);
        this.bed.store.hanging.clear();
        late.complete(this.bed.store.claim(OTHER, new ClaimRequest(1, TestBed.LEASE, this.bed.expiredPolicy)).join());
        hanging.turn();
        this.bed.runHandlers();

        assertThat(this.bed.handled).containsExactly("m");
        handlers.giveBack(1);
        assertThat(handlers.reserve(100, other)).as("room, when all is given back").isOne();
    }

    @Test
    void aLoopWithoutRoomWakesWhenItsNextMessageIsDue() {
        CompletableFuture<Object> running = new CompletableFuture<>();
        this.bed.handler = (message, delivery) -> () -> running;
        HandlerPermits handlers = new HandlerPermits(1, this.bed.context.threads(), this.bed.clock);
        PollLoop one = new PollLoop(this.bed.queue(), this.bed.context, handlers);
        PollLoop other = new PollLoop(this.bed.queue(), this.bed.context, handlers);
        this.bed.store.add("later", Duration.ofMillis(100));
        assertThat(other.turn()).isEqualTo(Duration.ofMillis(100));
        this.bed.store.add("now", Duration.ZERO);
        TestBed.look(one);
        this.bed.runHandlers();

        assertThat(other.turn()).isEqualTo(Duration.ofMillis(100));
    }

    @Test
    void aLoopThatHasTakenAllStandsInTheLineForMore() {
        this.bed.handler = (message, delivery) -> () -> new CompletableFuture<>();
        HandlerPermits handlers = new HandlerPermits(1, this.bed.context.threads(), this.bed.clock);
        PollLoop one = new PollLoop(this.bed.queue(), this.bed.context, handlers);
        handlers.join();
        this.bed.store.add("a", Duration.ZERO);
        this.bed.store.add("b", Duration.ZERO);

        assertThat(one.turn()).isZero();
        assertThat(one.turn()).isPositive();
        assertThat(handlers.reserve(100, this.bed.alarm())).isZero();
    }

    @Test
    void aLoopGetsInLineWhileOthersHaveAllTheRoom() {
        Alarm other = this.bed.alarm();
        AtomicReference<HandlerPermits> shared = new AtomicReference<>();
        ListenerRuntime context = new ListenerRuntime(this.bed.store, (event) -> {
        }, (task) -> {
            task.run();
            // The handler has finished, and another loop takes its permit at once.
            shared.get().reserve(1, other);
        }, this.bed.timer, this.bed.context.outage(), this.bed.context.clocks(), TestBed.PARTITIONS, null,
                this.bed.context.settings(), this.bed.clock);
        shared.set(new HandlerPermits(2, context.threads(), this.bed.clock));
        shared.get().join();
        assertThat(shared.get().reserve(1, other)).isOne();
        PollLoop loop = new PollLoop(this.bed.queue(), context, shared.get());
        this.bed.store.add("first", Duration.ZERO);
        this.bed.store.add("second", Duration.ZERO);

        assertThat(loop.turn()).isZero();
        assertThat(loop.turn()).isPositive();
        shared.get().giveBack(1);

        assertThat(shared.get().reserve(1, other)).as("the place of the loop").isZero();
        loop.turn();
        assertThat(this.bed.handled).containsExactly("first", "second");
    }

    @Test
    void aLoopThatDoesNotStartIsStartedWhenItIsNeededAgain() {
        int[] starts = { 0 };
        PartitionPollLoops loops = new PartitionPollLoops(this.bed.queue(), this.bed.context, (loop) -> {
            if (++starts[0] == 1) {
                throw new IllegalStateException("no thread");
            }
        });

        assertThatIllegalStateException().isThrownBy(() -> loops.start(false));
        loops.start(false);
        loops.start(false);
        assertThat(starts[0]).isEqualTo(2);
    }

    @Test
    void watchesPartitionsNoMoreIfItStopsWhileItStarts() {
        PartitionLayoutCache table = mock(PartitionLayoutCache.class);
        boolean[] watching = { true };
        PartitionPollLoops[] loops = new PartitionPollLoops[1];
        when(table.watch(any(), any())).thenAnswer((call) -> {
            loops[0].stop(Duration.ZERO);
            return (Runnable) () -> watching[0] = false;
        });
        ListenerRuntime context = new ListenerRuntime(this.bed.store, (event) -> {
        }, this.bed.context.threads(), this.bed.timer, this.bed.context.outage(), this.bed.context.clocks(), table,
                null, this.bed.context.settings(), this.bed.clock);
        loops[0] = new PartitionPollLoops(this.bed.queue(), context, (loop) -> {
        });

        loops[0].start(false);

        assertThat(watching[0]).isFalse();
    }

    @Test
    void turnsOfSharedLoopsAreNotNested() {
        int partitions = 50;
        PrimaryPartitions kept = new PrimaryPartitions(TestBed.SAFETY_POLL, this.bed.clock);
        AtomicInteger deepest = new AtomicInteger();
        long base = StackWalker.getInstance().walk((frames) -> frames.count());
        ListenerRuntime context = new ListenerRuntime(this.bed.store, (event) -> {
        }, this.bed.context.threads(), this.bed.timer, this.bed.context.outage(), this.bed.context.clocks(),
                TestBed.PARTITIONS, kept, this.bed.context.settings(), () -> {
                    deepest.accumulateAndGet((int) (long) StackWalker.getInstance().walk((frames) -> frames.count()),
                            Math::max);
                    return this.bed.clock.getAsLong();
                });
        CompletableFuture<Object> running = new CompletableFuture<>();
        this.bed.handler = (message, delivery) -> () -> running;
        HandlerPermits handlers = new HandlerPermits(1, this.bed.context.threads(), this.bed.clock);
        List<PollLoop> loops = new ArrayList<>();
        for (int i = 0; i < partitions; i++) {
            PollLoop loop = new PollLoop(this.bed.queue().at(new Partition(TestBed.QUEUE.queue(), i)), context,
                    handlers);
            loop.start(this.bed.store);
            loops.add(loop);
        }
        this.bed.store.add("first", Duration.ZERO);
        loops.get(0).heard(WakeUpSignal.LOOK);
        this.bed.runHandlers();
        this.bed.clock.advance(Duration.ofMillis(50));
        // All have due messages and wait for permits; then another node claims these.
        loops.forEach((loop) -> loop.heard(WakeUpSignal.due(Duration.ZERO)));
        loops.forEach((loop) -> loop.heard(WakeUpSignal.kept(null, new WakeUpSignal.Keeper("other", 0))));
        running.complete(null);
        this.bed.runHandlers();
        assertThat((long) deepest.get()).isLessThan(base + 200);
    }

}
