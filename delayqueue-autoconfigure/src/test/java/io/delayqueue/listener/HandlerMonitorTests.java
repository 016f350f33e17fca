package io.delayqueue.listener;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import io.delayqueue.admin.HandlerStacks.HandlerStack;
import io.delayqueue.admin.NodeStatus.RunningHandler;
import io.delayqueue.admin.NodeStatus.RunningHandlers;
import io.delayqueue.fixtures.application.HangingHandler;
import io.delayqueue.listener.poll.HandlerMonitor;
import io.delayqueue.listener.poll.TestBed;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests what an operator sees of the handlers that run, and of those that hang. */
class HandlerMonitorTests {

    private static final Duration OVERDUE = Duration.ofMinutes(1);

    private final TestBed bed = new TestBed();

    private final HangingHandler hanging = new HangingHandler();

    private final HandlerMonitor monitor = new HandlerMonitor(this.bed.context.executor(), this.bed.clock, OVERDUE);

    @AfterEach
    void releaseHandlers() {
        this.hanging.release();
    }

    /** Starts handlers that hang, one second after the other, on threads of their own. */
    private void hang(int handlers) {
        this.bed.concurrency = handlers;
        this.bed.handler = (message, delivery) -> (continuations) -> {
            HandlerMonitorTests.this.hanging.waitHere();
            return null;
        };
        IntStream.range(0, handlers).forEach((i) -> this.bed.store.add("m%02d".formatted(i), Duration.ZERO));
        this.bed.pollOnce();
        for (int i = 1; i <= handlers; i++) {
            Thread thread = new Thread(this.bed.handlers.remove());
            thread.setDaemon(true);
            thread.start();
            int started = i;
            TestBed.await(() -> this.hanging.waiting() == started && this.monitor.running().total() == started);
            this.bed.clock.advance(Duration.ofSeconds(1));
        }
    }

    @Test
    void listsTheTwentyThatRunLongest() {
        hang(25);

        RunningHandlers running = this.monitor.running();

        assertThat(running.total()).isEqualTo(25);
        assertThat(running.overdue()).isZero();
        assertThat(running.longest()).hasSize(20);
        assertThat(running.longest()).extracting((handler) -> handler.runningFor().toSeconds())
            .containsExactlyElementsOf(IntStream.range(0, 20).mapToObj((i) -> 25L - i).toList());
        assertThat(running.longest().get(0))
            .isEqualTo(new RunningHandler("listener", "orders", "m00", 1, 1, Duration.ofSeconds(25), false));
    }

    @Test
    void aHandlerIsOverdueAfterItsTimeoutOrElseAfterTheSharedLimit() {
        hang(1);
        this.bed.clock.advance(OVERDUE.minusSeconds(1).minusNanos(1));
        assertThat(this.monitor.running().overdue()).isZero();
        this.bed.clock.advance(Duration.ofNanos(1));
        assertThat(this.monitor.running().overdue()).isOne();
        assertThat(this.monitor.running().longest()).singleElement().matches(RunningHandler::overdue);
    }

    @Test
    void aTimeoutReplacesTheSharedLimit() {
        this.bed.timeout = Duration.ofMinutes(10);
        hang(1);
        this.bed.clock.advance(OVERDUE.multipliedBy(5));
        assertThat(this.monitor.running().overdue()).isZero();
        this.bed.clock.advance(OVERDUE.multipliedBy(5));
        assertThat(this.monitor.running().overdue()).isOne();
    }

    /** Stacks of other threads are not for operators. */
    @Test
    void takesTheStacksOfOverdueHandlersOnlyAndOfTheirFramesOnly() {
        hang(2);
        assertThat(this.monitor.overdueStacks()).isEmpty();
        this.bed.clock.advance(OVERDUE.minusSeconds(2));

        List<HandlerStack> stacks = this.monitor.overdueStacks();

        assertThat(stacks).singleElement().satisfies((stack) -> {
            assertThat(stack.handler().id()).isEqualTo("m00");
            assertThat(stack.frames()).anyMatch((frame) -> frame.contains("HangingHandler.waitHere"))
                .noneMatch((frame) -> frame.contains("DeliveryProcessor") || frame.contains("Thread.run"))
                .noneMatch((frame) -> frame.contains("//") || frame.contains("java.base"))
                .hasSizeLessThanOrEqualTo(40);
        });
    }

    @Test
    void aHandlerWhoseFutureIsPendingHasNoStack() {
        this.bed.handler = (message, delivery) -> (continuations) -> new CompletableFuture<>();
        this.bed.store.add("m", Duration.ZERO);
        this.bed.pollOnce();
        this.bed.runHandlers();
        this.bed.clock.advance(OVERDUE);

        assertThat(this.monitor.overdueStacks()).singleElement()
            .satisfies((stack) -> assertThat(stack.frames()).isEmpty());
    }

}
