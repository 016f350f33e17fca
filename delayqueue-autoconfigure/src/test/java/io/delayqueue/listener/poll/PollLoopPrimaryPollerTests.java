package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import ch.qos.logback.classic.Level;
import io.delayqueue.fixtures.LogCapture;
import io.delayqueue.store.WakeUpSignal;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests P3 for a store that announces primary pollers: a loop polls only when a message
 * is due, and as primary poller leaves messages without permits to others.
 */
class PollLoopPrimaryPollerTests {

    /** How long a primary poller may have no free permits before it resigns. */
    private static final Duration FULL = Duration.ofMillis(5);

    private static final String RESIGN = "resign orders";

    private static final WakeUpSignal POLLED_BY_ANOTHER = WakeUpSignal.primaryPolled(null,
            new WakeUpSignal.PrimaryPoller("other", 1));

    private final TestBed bed = new TestBed();

    private final PrimaryPartitions primaryPartitions = new PrimaryPartitions(TestBed.SAFETY_POLL, this.bed.clock);

    private final PollLoopContext context = this.bed.with().primaryPartitions(this.primaryPartitions).build();

    private CompletableFuture<Void> running = new CompletableFuture<>();

    private PollLoop loop() {
        this.bed.handler = (message, delivery) -> (continuations) -> this.running;
        return TestBed.loop(this.bed.queue(), this.context);
    }

    /** Creates a primary poller, a second old, whose one handler runs. */
    private PollLoop full() {
        PollLoop loop = loop();
        loop.runOnce();
        this.bed.clock.advance(Duration.ofSeconds(1));
        this.bed.store.add("first", Duration.ZERO);
        TestBed.poll(loop);
        this.bed.runHandlers();
        this.bed.store.calls.clear();
        return loop;
    }

    private void finish() {
        CompletableFuture<Void> finished = this.running;
        this.running = new CompletableFuture<>();
        finished.complete(null);
        this.bed.runHandlers();
    }

    private void due(PollLoop loop, Duration in) {
        this.bed.store.add("due in " + in, in);
        loop.onWakeUp(WakeUpSignal.dueIn(in, null));
    }

    @Test
    void aPrimaryPollerWithoutPermitsForDueMessagesResignsAfterAMoment() {
        PollLoop loop = full();
        due(loop, Duration.ZERO);

        assertThat(loop.runOnce()).isEqualTo(FULL);
        this.bed.clock.advance(FULL.minusNanos(1));
        assertThat(loop.runOnce()).isEqualTo(Duration.ofNanos(1));
        assertThat(this.bed.store.calls).isEmpty();
        assertThat(this.primaryPartitions.count()).isOne();

        this.bed.clock.advance(Duration.ofNanos(1));
        assertThat(loop.runOnce()).isEqualTo(TestBed.SAFETY_POLL);
        loop.runOnce();
        assertThat(this.bed.store.calls).containsExactly(RESIGN);
        assertThat(this.primaryPartitions.count()).isZero();
    }

    @Test
    void aNodeThatResignedPollsAsSoonAsPermitsAreFree() {
        PollLoop loop = full();
        due(loop, Duration.ZERO);
        loop.runOnce();
        this.bed.clock.advance(FULL);
        loop.runOnce();
        loop.onWakeUp(WakeUpSignal.NO_PRIMARY);

        finish();
        loop.runOnce();
        assertThat(this.bed.store.count("claim")).isOne();
        assertThat(this.primaryPartitions.count()).isOne();
    }

    @Test
    void aPrimaryPollerWithoutPermitsResignsOnlyWhenAMessageIsDue() {
        PollLoop loop = full();
        due(loop, Duration.ofSeconds(2));

        assertThat(loop.runOnce()).isEqualTo(FULL.plusSeconds(2));
        this.bed.clock.advance(Duration.ofSeconds(2));
        assertThat(loop.runOnce()).isEqualTo(FULL);
        assertThat(this.bed.store.calls).isEmpty();
        this.bed.clock.advance(FULL);
        loop.runOnce();
        assertThat(this.bed.store.calls).containsExactly(RESIGN);
    }

    @Test
    void theMomentCountsFromWhenItBecameFull() {
        PollLoop loop = loop();
        this.bed.store.add("first", Duration.ZERO);
        this.bed.store.during("claim", () -> {
            loop.onWakeUp(WakeUpSignal.dueIn(Duration.ZERO, null));
            this.bed.clock.advance(Duration.ofSeconds(1));
        });
        loop.runOnce();
        this.bed.runHandlers();

        assertThat(loop.runOnce()).isEqualTo(FULL);
        assertThat(this.bed.store.count("resign")).isZero();
    }

    @Test
    void freePermitsInBetweenRestartTheMoment() {
        PollLoop loop = full();
        due(loop, Duration.ZERO);
        loop.runOnce();
        this.bed.clock.advance(Duration.ofMillis(3));
        finish();
        // Claims, and has no permits again after that message is handled.
        loop.runOnce();
        this.bed.runHandlers();
        finish();
        this.bed.clock.advance(Duration.ofSeconds(1));
        TestBed.poll(loop);
        this.bed.store.add("second", Duration.ZERO);
        this.bed.store.during("claim", () -> {
            loop.onWakeUp(WakeUpSignal.dueIn(Duration.ZERO, null));
            this.bed.clock.advance(Duration.ofSeconds(1));
        });
        TestBed.poll(loop);
        this.bed.runHandlers();

        assertThat(loop.runOnce()).isEqualTo(FULL);
        assertThat(this.bed.store.calls).doesNotContain(RESIGN);
    }

    @Test
    void aStandbyNodeHasNothingToResign() {
        PollLoop loop = full();
        loop.onWakeUp(POLLED_BY_ANOTHER);
        due(loop, Duration.ZERO);

        assertThat(loop.runOnce()).isEqualTo(TestBed.SAFETY_POLL);
        this.bed.clock.advance(Duration.ofSeconds(1));
        assertThat(loop.runOnce()).isEqualTo(TestBed.SAFETY_POLL);
        loop.pause(true);
        loop.runOnce();
        assertThat(this.bed.store.calls).isEmpty();
    }

    @Test
    void aPrimaryPollerThatPausesResignsOnce() {
        PollLoop loop = loop();
        loop.runOnce();
        loop.pause(true);
        loop.runOnce();
        loop.runOnce();

        assertThat(this.bed.store.calls).containsExactly("claim 1", RESIGN);
        assertThat(this.primaryPartitions.count()).isZero();
    }

    /** The broker of its handler may be reachable from another node. */
    @Test
    void aPrimaryPollerWhoseHandlerIsUnavailableResignsOnce() {
        TestBed.FakeAvailability handler = new TestBed.FakeAvailability(this.bed.handler);
        this.bed.handler = handler;
        PollLoop loop = TestBed.loop(this.bed.queue(), this.context);
        loop.runOnce();
        handler.until = Duration.ofMillis(100);
        loop.runOnce();
        assertThat(this.bed.store.calls).containsExactly("claim 1");

        handler.until = Duration.ofSeconds(1);
        loop.runOnce();
        loop.runOnce();
        assertThat(this.bed.store.calls).containsExactly("claim 1", RESIGN);
    }

    @Test
    void aPrimaryPollerThatStopsResignsBeforeItReleasesMessages() {
        PollLoop loop = loop();
        this.bed.store.add("m", Duration.ZERO);
        loop.runOnce();
        loop.stop(Duration.ZERO);
        TestBed.iterations(loop);

        assertThat(this.bed.store.calls).containsExactly("claim 1", RESIGN, "release [m] as before");
        assertThat(this.primaryPartitions.count()).isZero();
    }

    /** As after a restart of the listener, while a handler of the loop before runs. */
    @Test
    void aLoopThatStopsIsNoPrimaryPollerAgainThoughAnotherLoopOfItsNodeIs() {
        PollLoop loop = full();
        loop.stop(Duration.ofSeconds(20));
        loop.runOnce();
        WakeUpSignal.PrimaryPoller own = new WakeUpSignal.PrimaryPoller(this.primaryPartitions.node(), 1);
        loop.onWakeUp(WakeUpSignal.primaryPolled(null, own));

        assertThat(this.primaryPartitions.count()).isZero();
    }

    @Test
    void aFailedResignationIsLoggedOnly() {
        try (LogCapture log = new LogCapture()) {
            PollLoop loop = loop();
            loop.runOnce();
            this.bed.store.fail("resign");
            loop.pause(true);

            assertThat(loop.runOnce()).isEqualTo(TestBed.SAFETY_POLL);
            assertThat(log.lines(Level.DEBUG))
                .anyMatch((line) -> line.startsWith("Cannot resign as primary poller of queue 'orders'"));
            assertThat(this.primaryPartitions.count()).isZero();
        }
    }

    @Test
    void aHandlerThatFinishesCausesNoPoll() {
        PollLoop loop = full();
        finish();
        this.bed.settle(loop);
        loop.runOnce();

        assertThat(this.bed.store.calls).containsExactly("acknowledge [first]");
    }

    @Test
    void aRetryCausesNoPollAsTheStorePublishesIt() {
        PollLoop loop = full();
        this.running.completeExceptionally(new IllegalStateException("no"));
        this.bed.runHandlers();
        loop.runOnce();

        assertThat(this.bed.store.calls).containsExactly("retry first in PT1S");
    }

    @Test
    void withoutWakeUpsAFinishedMessageCausesAPoll() {
        PollLoop loop = TestBed.loop(this.bed.queue(), this.bed.context);
        this.bed.store.add("m", Duration.ZERO);
        loop.runOnce();
        this.bed.runHandlers();
        this.bed.settle(loop);
        loop.runOnce();
        assertThat(this.bed.store.count("claim")).isEqualTo(2);

        this.bed.handler = (message, delivery) -> (continuations) -> {
            throw new IllegalStateException("no");
        };
        PollLoop failing = TestBed.loop(this.bed.queue(), this.bed.context);
        this.bed.store.add("n", Duration.ZERO);
        failing.runOnce();
        this.bed.runHandlers();
        this.bed.store.calls.clear();
        failing.runOnce();
        assertThat(this.bed.store.calls).containsExactly("claim 1");
    }

    @Test
    void aLoopThatNeedsNoPermitsAnymoreStopsWaiting() {
        HandlerConcurrencyLimiter shared = new HandlerConcurrencyLimiter(1, this.context.executor(), this.bed.clock);
        this.bed.handler = (message, delivery) -> (continuations) -> this.running;
        PollLoop busy = new PollLoop(this.bed.queue(), this.context, shared);
        PollLoop waiting = new PollLoop(this.bed.queue(), this.context, shared);
        waiting.runOnce();
        this.bed.store.add("first", Duration.ZERO);
        busy.runOnce();
        this.bed.runHandlers();
        waiting.onWakeUp(WakeUpSignal.dueIn(Duration.ZERO, null));
        waiting.runOnce();
        this.bed.store.calls.clear();

        finish();
        waiting.onWakeUp(POLLED_BY_ANOTHER);
        waiting.runOnce();
        busy.onWakeUp(WakeUpSignal.POLL_NOW);
        busy.runOnce();
        assertThat(this.bed.store.calls).containsExactly("claim 1");
    }

}
