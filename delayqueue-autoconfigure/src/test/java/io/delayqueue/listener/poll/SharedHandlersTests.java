package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import io.delayqueue.DelayQueueException;
import io.delayqueue.Delivery;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.listener.handler.MessageHandler;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.WakeUpSignal;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

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
        PollLoopContext context = this.bed.with()
            .executor(Runnable::run)
            .settings(new SharedListenerSettings(Duration.ZERO, Duration.ofDays(1), null, false,
                    HandlerExecution.DEFAULT))
            .build();
        HandlerConcurrencyLimiter limiter = new HandlerConcurrencyLimiter(2, TestBed.executor(Runnable::run),
                this.bed.clock);
        PollLoop hanging = new PollLoop(this.bed.queue().at(OTHER), context, limiter);
        PollLoop other = new PollLoop(this.bed.queue(), context, limiter);
        hanging.start(this.bed.store);
        other.start(this.bed.store);
        assertThat(this.bed.handled).isEmpty();

        this.bed.timer.advance(SOON);
        assertThat(this.bed.handled).containsExactly("m");
        hanging.stop(Duration.ZERO);
        other.stop(Duration.ZERO);
        never.completeExceptionally(
                new StoreUnavailableException("No answer", DelayQueueException.Effect.UNKNOWN, null));
        assertThat(limiter.reserve(100, this.bed.pollLoopScheduler())).as("permits, when all are returned")
            .isEqualTo(2);
    }

    @Test
    void messagesOfALateAnswerExceedThePermits() {
        CompletableFuture<ClaimResult> late = new CompletableFuture<>();
        this.bed.store.hanging.put(OTHER, late);
        HandlerConcurrencyLimiter limiter = new HandlerConcurrencyLimiter(1, this.bed.context.executor(),
                this.bed.clock);
        PollLoop hanging = new PollLoop(this.bed.queue().at(OTHER), this.bed.context, limiter);
        limiter.register();
        PollLoopScheduler other = this.bed.pollLoopScheduler();
        assertThat(hanging.runOnce()).isEqualTo(SOON);
        assertThat(limiter.reserve(100, other)).isZero();
        this.bed.clock.advance(SOON);
        assertThat(hanging.runOnce()).isNull();
        assertThat(limiter.reserve(100, other)).isOne();

        this.bed.store.add("m", Duration.ZERO);
        this.bed.store.hanging.clear();
        late.complete(this.bed.store.claim(OTHER, new ClaimRequest(1, TestBed.LEASE, this.bed.expiryPolicy)).join());
        hanging.runOnce();
        this.bed.runHandlers();

        assertThat(this.bed.handled).containsExactly("m");
        limiter.release(1);
        assertThat(limiter.reserve(100, other)).as("permits, when all are returned").isOne();
    }

    /** A claim of a batch takes one permit, and gives it back if it brings nothing. */
    @Test
    void partitionsShareThePermitsOfBatches() {
        this.bed.handler = new BatchHandler();
        HandlerConcurrencyLimiter limiter = HandlerConcurrencyLimiter.ofBatches(2, this.bed.context.executor(),
                this.bed.clock);
        PollLoop one = new PollLoop(this.bed.queue(), this.bed.context, limiter);
        PollLoop other = new PollLoop(this.bed.queue().at(OTHER), this.bed.context, limiter);
        other.runOnce();
        this.bed.store.add("a", Duration.ZERO);
        this.bed.store.add("b", Duration.ZERO);
        TestBed.poll(one);
        this.bed.store.add("c", Duration.ZERO);
        TestBed.poll(other);
        this.bed.store.add("d", Duration.ZERO);
        TestBed.poll(one);

        assertThat(this.bed.store.calls).containsExactly("claim 100", "claim 100", "claim 100");
        this.bed.runHandlers();
        assertThat(this.bed.handled).containsExactly("[a, b]", "[c]");
        this.bed.settle(one);
        this.bed.runHandlers();
        assertThat(this.bed.handled).containsExactly("[a, b]", "[c]", "[d]");
        assertThat(limiter.idle()).isEqualTo(2);
    }

    /** Permits of a batch whose claim was answered late exceed the others by one. */
    @Test
    void aBatchOfALateAnswerExceedsThePermitsByOne() {
        this.bed.handler = new BatchHandler();
        CompletableFuture<ClaimResult> late = new CompletableFuture<>();
        this.bed.store.hanging.put(OTHER, late);
        HandlerConcurrencyLimiter limiter = HandlerConcurrencyLimiter.ofBatches(1, this.bed.context.executor(),
                this.bed.clock);
        PollLoop hanging = new PollLoop(this.bed.queue().at(OTHER), this.bed.context, limiter);
        limiter.register();
        PollLoopScheduler other = this.bed.pollLoopScheduler();
        hanging.runOnce();
        this.bed.clock.advance(SOON);
        hanging.runOnce();
        assertThat(limiter.reserve(100, other)).isOne();

        this.bed.store.add("a", Duration.ZERO);
        this.bed.store.add("b", Duration.ZERO);
        this.bed.store.hanging.clear();
        late.complete(this.bed.store.claim(OTHER, new ClaimRequest(9, TestBed.LEASE, this.bed.expiryPolicy)).join());
        hanging.runOnce();
        this.bed.runHandlers();

        assertThat(this.bed.handled).containsExactly("[a, b]");
        limiter.release(1);
        assertThat(limiter.reserve(100, other)).as("permits, when all are returned").isOne();
    }

    @Test
    void aLoopWithoutPermitsWakesWhenItsNextMessageIsDue() {
        CompletableFuture<Object> running = new CompletableFuture<>();
        this.bed.handler = (message, delivery) -> (continuations) -> running;
        HandlerConcurrencyLimiter limiter = new HandlerConcurrencyLimiter(1, this.bed.context.executor(),
                this.bed.clock);
        PollLoop one = new PollLoop(this.bed.queue(), this.bed.context, limiter);
        PollLoop other = new PollLoop(this.bed.queue(), this.bed.context, limiter);
        this.bed.store.add("later", Duration.ofMillis(100));
        assertThat(other.runOnce()).isEqualTo(Duration.ofMillis(100));
        this.bed.store.add("now", Duration.ZERO);
        TestBed.poll(one);
        this.bed.runHandlers();

        assertThat(other.runOnce()).isEqualTo(Duration.ofMillis(100));
    }

    @Test
    void aLoopThatHasTakenAllPermitsWaitsForMore() {
        this.bed.handler = (message, delivery) -> (continuations) -> new CompletableFuture<>();
        HandlerConcurrencyLimiter limiter = new HandlerConcurrencyLimiter(1, this.bed.context.executor(),
                this.bed.clock);
        PollLoop one = new PollLoop(this.bed.queue(), this.bed.context, limiter);
        limiter.register();
        this.bed.store.add("a", Duration.ZERO);
        this.bed.store.add("b", Duration.ZERO);

        assertThat(one.runOnce()).isZero();
        assertThat(one.runOnce()).isPositive();
        assertThat(limiter.reserve(100, this.bed.pollLoopScheduler())).isZero();
    }

    /**
     * A permit may be offered while acknowledgements are pending, and is not offered
     * again.
     */
    @Test
    void aLoopThatWaitsForPermitsAsksAgainAfterItsAcknowledgements() {
        this.bed.handler = (message, delivery) -> (continuations) -> {
            this.bed.clock.advance(Duration.ofSeconds(1)); // so no message is claimed
                                                           // ahead
            this.bed.handled.add(message.lease().id());
            return null;
        };
        HandlerConcurrencyLimiter limiter = new HandlerConcurrencyLimiter(1, this.bed.context.executor(),
                this.bed.clock);
        PollLoop loop = new PollLoop(this.bed.queue(), this.bed.context, limiter);
        limiter.register();
        this.bed.store.add("first", Duration.ZERO);
        TestBed.poll(loop);
        this.bed.runHandlers();
        int others = limiter.reserve(100, this.bed.pollLoopScheduler());
        this.bed.store.add("second", Duration.ZERO);
        CompletableFuture<Void> acknowledged = this.bed.store.stall("acknowledge");
        loop.runOnce();
        this.bed.clock.advance(TestBed.LINGER);
        TestBed.poll(loop);
        assertThat(this.bed.store.calls).endsWith("acknowledge [first]");
        limiter.release(others);

        acknowledged.complete(null);
        TestBed.iterations(loop);
        this.bed.runHandlers();

        assertThat(this.bed.handled).containsExactly("first", "second");
    }

    @Test
    void aLoopWaitsWhileOthersHaveAllPermits() {
        PollLoopScheduler other = this.bed.pollLoopScheduler();
        AtomicReference<HandlerConcurrencyLimiter> shared = new AtomicReference<>();
        PollLoopContext context = this.bed.with().executor((task) -> {
            task.run();
            // The handler has finished, and another loop takes its permit at once.
            shared.get().reserve(1, other);
        }).build();
        shared.set(new HandlerConcurrencyLimiter(2, context.executor(), this.bed.clock));
        shared.get().register();
        assertThat(shared.get().reserve(1, other)).isOne();
        PollLoop loop = new PollLoop(this.bed.queue(), context, shared.get());
        this.bed.store.add("first", Duration.ZERO);
        this.bed.store.add("second", Duration.ZERO);

        assertThat(loop.runOnce()).isZero();
        assertThat(loop.runOnce()).isPositive();
        shared.get().release(1);

        assertThat(shared.get().reserve(1, other)).as("the reservation of the loop").isZero();
        loop.runOnce();
        assertThat(this.bed.handled).containsExactly("first", "second");
    }

    @Test
    void iterationsOfSharedLoopsAreNotNested() {
        int partitions = 50;
        PrimaryPartitions primaryPartitions = new PrimaryPartitions(TestBed.SAFETY_POLL, this.bed.clock);
        AtomicInteger deepest = new AtomicInteger();
        long base = StackWalker.getInstance().walk((frames) -> frames.count());
        PollLoopContext context = this.bed.with().primaryPartitions(primaryPartitions).nanoTime(() -> {
            deepest.accumulateAndGet((int) (long) StackWalker.getInstance().walk((frames) -> frames.count()),
                    Math::max);
            return this.bed.clock.getAsLong();
        }).build();
        CompletableFuture<Object> running = new CompletableFuture<>();
        this.bed.handler = (message, delivery) -> (continuations) -> running;
        HandlerConcurrencyLimiter limiter = new HandlerConcurrencyLimiter(1, this.bed.context.executor(),
                this.bed.clock);
        List<PollLoop> loops = new ArrayList<>();
        for (int i = 0; i < partitions; i++) {
            PollLoop loop = new PollLoop(this.bed.queue().at(new Partition(TestBed.QUEUE.queue(), i)), context,
                    limiter);
            loop.start(this.bed.store);
            loops.add(loop);
        }
        this.bed.store.add("first", Duration.ZERO);
        loops.get(0).onWakeUp(WakeUpSignal.POLL_NOW);
        this.bed.runHandlers();
        this.bed.clock.advance(Duration.ofMillis(50));
        // All have due messages and wait for permits; then another node claims these.
        loops.forEach((loop) -> loop.onWakeUp(WakeUpSignal.dueIn(Duration.ZERO, null)));
        loops.forEach(
                (loop) -> loop.onWakeUp(WakeUpSignal.primaryPolled(null, new WakeUpSignal.PrimaryPoller("other", 0))));
        running.complete(null);
        this.bed.runHandlers();
        assertThat((long) deepest.get()).isLessThan(base + 200);
    }

    /** Records the ids of each batch. */
    private final class BatchHandler implements MessageHandler {

        @Override
        public Call prepare(ClaimedMessage message, Delivery delivery) {
            return new Item(message.lease().id());
        }

        @Override
        public boolean isBatch() {
            return true;
        }

        @Override
        public Call combine(List<Call> calls) {
            return (continuations) -> {
                SharedHandlersTests.this.bed.handled
                    .add(calls.stream().map((call) -> ((Item) call).id()).toList().toString());
                return null;
            };
        }

    }

    private record Item(String id) implements MessageHandler.Call {

        @Override
        public CompletionStage<?> invoke(Executor continuations) {
            throw new IllegalStateException("handled with the batch");
        }

    }

}
