package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

import ch.qos.logback.classic.Level;
import io.delayqueue.DelayQueueException;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.fixtures.LogCapture;
import io.delayqueue.fixtures.ManualNanoClock;
import io.delayqueue.store.ClaimResult;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests P12: which messages a stop gives back, waits for, and acknowledges. */
class PollLoopStopTests {

    private final TestBed bed = new TestBed();

    @Test
    void handlesNoMessageOfAClaimThatAStopOvertakes() {
        PollLoop loop = this.bed.loop();
        this.bed.store.add("m", Duration.ZERO);
        this.bed.store.during("claim", () -> loop.stop(Duration.ZERO));
        TestBed.iterations(loop);

        assertThat(this.bed.handled).isEmpty();
        assertThat(this.bed.store.calls).containsExactly("claim 1", "release [m] as before");
    }

    @Test
    void releasesAtAStopTheMessagesOfAPendingClaim() {
        this.bed.concurrency = 2;
        PollLoop loop = this.bed.loop();
        this.bed.store.add("a", Duration.ZERO);
        this.bed.store.add("b", Duration.ZERO);
        this.bed.store.during("claim", () -> loop.stop(Duration.ZERO));

        TestBed.iterations(loop);
        this.bed.runHandlers();

        assertThat(this.bed.store.calls).hasSize(2).last().asString().startsWith("release [").contains("a", "b");
        assertThat(this.bed.handled).isEmpty();
        assertThat(this.bed.store.messages.get("a").dueAt).isEqualTo(ManualNanoClock.START);
    }

    @Test
    void releasesUnstartedMessagesAtAStop() {
        this.bed.concurrency = 2;
        PollLoop[] stopping = new PollLoop[1];
        this.bed.store.add("a", Duration.ZERO);
        this.bed.store.add("b", Duration.ZERO);
        this.bed.handler = (message, delivery) -> (continuations) -> {
            this.bed.handled.add(message.lease().id());
            stopping[0].stop(Duration.ofSeconds(20));
            return null;
        };
        PollLoop loop = this.bed.loop();
        stopping[0] = loop;
        loop.runOnce();
        this.bed.runHandlers();

        TestBed.iterations(loop);
        this.bed.runHandlers();

        assertThat(this.bed.store.calls).containsExactly("claim 2", "release [b] as before", "acknowledge [a]");
        assertThat(this.bed.handled).containsExactly("a");
        assertThat(this.bed.store.messages).containsOnlyKeys("b");
    }

    /** The outage of an ended loop would never be over, and hide the next one. */
    @Test
    void leavesNoOutageBehind() {
        PollLoop loop = this.bed.loop();
        this.bed.store.add("m", Duration.ZERO);
        loop.runOnce();
        this.bed.runHandlers();
        this.bed.store.fail("acknowledge");
        try (LogCapture log = new LogCapture()) {
            loop.stop(Duration.ZERO);
            TestBed.iterations(loop);
            assertThat(log.lines(Level.WARN)).filteredOn((line) -> line.contains("Cannot acknowledge")).hasSize(1);

            this.bed.context.outage().failed(StoreOutageLog.CLAIM, TestBed.QUEUE, new IllegalStateException());
            assertThat(log.lines(Level.WARN)).filteredOn((line) -> line.contains("Cannot claim")).hasSize(1);
        }
    }

    @Test
    void waitsAtAStopForHandlersThatRunAndAcknowledgesThem() {
        CompletableFuture<Void> future = new CompletableFuture<>();
        this.bed.handler = (message, delivery) -> (continuations) -> future;
        this.bed.store.add("m", Duration.ZERO);
        PollLoop loop = this.bed.loop();
        loop.runOnce();
        this.bed.runHandlers();
        CompletableFuture<Void> end = loop.start(this.bed.store);
        this.bed.store.calls.clear();
        loop.stop(Duration.ofHours(1));
        assertThat(end).isNotDone();

        future.complete(null);
        this.bed.runHandlers();
        assertThat(end).isCompleted();
        assertThat(this.bed.store.calls).containsExactly("acknowledge [m]", "unlisten orders");
    }

    @Test
    void acknowledgesAHandlerThatOutlivesTheStop() {
        this.bed.store.add("m", Duration.ZERO);
        List<Runnable> late = new ArrayList<>();
        this.bed.handler = (message, delivery) -> (continuations) -> {
            CompletableFuture<Void> future = new CompletableFuture<>();
            late.add(() -> future.complete(null));
            return future;
        };
        PollLoop loop = this.bed.loop();
        loop.runOnce();
        this.bed.runHandlers();
        try (LogCapture log = new LogCapture()) {
            loop.stop(Duration.ZERO);
            TestBed.iterations(loop);
            assertThat(log.lines(Level.WARN)).hasSize(1)
                .first()
                .asString()
                .startsWith(
                        "1 handler of listener 'listener' on queue 'orders' did not end within the shutdown timeout; "
                                + "an interrupt or a cancellation follows, except for futures");
        }
        assertThat(this.bed.store.messages.get("m").leasedUntil).isEqualTo(ManualNanoClock.START.plus(TestBed.LEASE));

        late.forEach(Runnable::run);
        this.bed.runHandlers();

        assertThat(this.bed.store.calls).containsExactly("claim 1", "acknowledge [m]");
    }

    /** P12: also if the application runs on, as its listener alone was stopped. */
    @Test
    void interruptsAHandlerThatOutlivesTheStopAndReleasesItsMessage() {
        this.bed.store.add("m", Duration.ZERO);
        PollLoop[] loop = new PollLoop[1];
        this.bed.handler = (message, delivery) -> (continuations) -> {
            loop[0].stop(Duration.ofSeconds(1));
            TestBed.iterations(loop[0]);
            assertThat(Thread.currentThread().isInterrupted()).as("before the timeout").isFalse();
            this.bed.timer.advance(Duration.ofSeconds(2));
            TestBed.iterations(loop[0]);
            assertThat(Thread.currentThread().isInterrupted()).as("after the timeout").isTrue();
            throw new InterruptedException();
        };
        loop[0] = this.bed.loop();
        loop[0].runOnce();
        this.bed.runHandlers();

        assertThat(Thread.interrupted()).isFalse();
        assertThat(this.bed.store.calls).containsExactly("claim 1", "release [m] in PT0S");
        assertThat(this.bed.counters.snapshot().failed()).isZero();
    }

    /** Stops a loop whose handlers were called; returns the warnings. */
    private List<String> warningsOfAStop() {
        PollLoop loop = this.bed.loop();
        loop.runOnce();
        this.bed.runHandlers();
        try (LogCapture log = new LogCapture()) {
            loop.stop(Duration.ZERO);
            TestBed.iterations(loop);
            return log.lines(Level.WARN);
        }
    }

    @Test
    void countsTheHandlersThatOutliveTheStop() {
        this.bed.concurrency = 2;
        this.bed.handler = (message, delivery) -> (continuations) -> new CompletableFuture<>();
        this.bed.store.add("a", Duration.ZERO);
        this.bed.store.add("b", Duration.ZERO);

        assertThat(warningsOfAStop()).hasSize(1).first().asString().startsWith("2 handlers of listener");
    }

    @Test
    void aPendingAcknowledgementIsNoHandlerThatOutlivesTheStop() {
        this.bed.store.add("m", Duration.ZERO);

        assertThat(warningsOfAStop()).isEmpty();
        assertThat(this.bed.store.calls).containsExactly("claim 1", "acknowledge [m]");
    }

    @Test
    void aStopEndsAtItsDeadlineWhileAcknowledgementsFail() {
        this.bed.store.add("m", Duration.ZERO);
        PollLoop loop = this.bed.loop();
        CompletableFuture<Void> end = loop.start(this.bed.store);
        this.bed.store.fail("acknowledge");
        this.bed.runHandlers();
        this.bed.timer.advance(Duration.ofSeconds(12));
        loop.stop(Duration.ofSeconds(2));
        this.bed.timer.advance(Duration.ofMillis(1900));
        this.bed.store.recover();
        this.bed.timer.advance(Duration.ofMillis(200));
        assertThat(end).isDone();
        assertThat(this.bed.store.messages).isEmpty();
    }

    @Test
    void aClaimThatFailsAfterTheDeadlineEndsTheLoopWithoutTheTimer() {
        CompletableFuture<ClaimResult> late = new CompletableFuture<>();
        this.bed.store.hanging.put(TestBed.QUEUE, late);
        PollLoop loop = this.bed.loop();
        CompletableFuture<Void> end = loop.start(this.bed.store);
        loop.stop(Duration.ofSeconds(1));
        this.bed.timer.advance(Duration.ofSeconds(2));
        // The timer is closed here.
        late.completeExceptionally(
                new StoreUnavailableException("No answer", DelayQueueException.Effect.UNKNOWN, null));
        assertThat(end).isDone();
        assertThat(this.bed.store.calls).contains("unlisten " + TestBed.QUEUE);
    }

    @Test
    void aPrimaryPollerThatIsStoppedDuringAnIterationResigns() {
        PrimaryPartitions primaryPartitions = new PrimaryPartitions(TestBed.SAFETY_POLL, this.bed.clock);
        AtomicReference<Runnable> hook = new AtomicReference<>();
        PollLoopContext context = this.bed.with().primaryPartitions(primaryPartitions).nanoTime(() -> {
            Runnable task = hook.getAndSet(null);
            if (task != null) {
                task.run();
            }
            return this.bed.clock.getAsLong();
        }).build();
        PollLoop loop = TestBed.loop(this.bed.queue(), context);
        CompletableFuture<Void> end = loop.start(this.bed.store);
        assertThat(primaryPartitions.count()).isOne();
        // Another thread stops it while an iteration that began before reads the clock.
        hook.set(() -> loop.stop(Duration.ofSeconds(20)));
        loop.pause(false);
        assertThat(end).isDone();
        assertThat(this.bed.store.calls).contains("resign orders");
    }

    /** P12: partitions may become known while the listener stops. */
    @Test
    void aLoopThatIsStoppedBeforeItsStartRunsNoIteration() {
        PollLoop loop = this.bed.loop();
        loop.stop(Duration.ZERO);

        assertThat(loop.start(this.bed.store)).isCompleted();
        assertThat(this.bed.store.calls).isEmpty();
        assertThat(this.bed.store.listeners).isEmpty();
    }

}
