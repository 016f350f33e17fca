package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import ch.qos.logback.classic.Level;
import io.delayqueue.store.WakeUpSignal;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests P3 for a store that announces primary pollers: a loop polls only when a message
 * is due, and as primary poller leaves messages without permits to others.
 */
class PollLoopKeeperTests {

    /** How long a primary poller may have no free permits before it resigns. */
    private static final Duration FULL = Duration.ofMillis(5);

    private static final String RESIGN = "resign orders";

    private static final WakeUpSignal KEPT_BY_ANOTHER = WakeUpSignal.kept(null, new WakeUpSignal.Keeper("other", 1));

    private final TestBed bed = new TestBed();

    private final PrimaryPartitions kept = new PrimaryPartitions(TestBed.SAFETY_POLL, this.bed.clock);

    private final ListenerRuntime context = new ListenerRuntime(this.bed.store, (event) -> {
    }, this.bed.context.threads(), this.bed.timer, this.bed.context.outage(), this.bed.context.clocks(),
            TestBed.PARTITIONS, this.kept, this.bed.context.settings(), this.bed.clock);

    private CompletableFuture<Void> running = new CompletableFuture<>();

    private PollLoop loop() {
        this.bed.handler = (message, delivery) -> () -> this.running;
        return TestBed.loop(this.bed.queue(), this.context);
    }

    /** Creates a primary poller, a second old, whose one handler runs. */
    private PollLoop full() {
        PollLoop loop = loop();
        loop.turn();
        this.bed.clock.advance(Duration.ofSeconds(1));
        this.bed.store.add("first", Duration.ZERO);
        TestBed.look(loop);
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
        loop.heard(WakeUpSignal.due(in));
    }

    @Test
    void aKeeperWithNoRoomForWhatIsDueResignsAfterAMoment() {
        PollLoop loop = full();
        due(loop, Duration.ZERO);

        assertThat(loop.turn()).isEqualTo(FULL);
        this.bed.clock.advance(FULL.minusNanos(1));
        assertThat(loop.turn()).isEqualTo(Duration.ofNanos(1));
        assertThat(this.bed.store.calls).isEmpty();
        assertThat(this.kept.count()).isOne();

        this.bed.clock.advance(Duration.ofNanos(1));
        assertThat(loop.turn()).isEqualTo(TestBed.SAFETY_POLL);
        loop.turn();
        assertThat(this.bed.store.calls).containsExactly(RESIGN);
        assertThat(this.kept.count()).isZero();
    }

    @Test
    void whoHasResignedLooksAsSoonAsThereIsRoom() {
        PollLoop loop = full();
        due(loop, Duration.ZERO);
        loop.turn();
        this.bed.clock.advance(FULL);
        loop.turn();
        loop.heard(WakeUpSignal.VACANT);

        finish();
        loop.turn();
        assertThat(this.bed.store.count("claim")).isOne();
        assertThat(this.kept.count()).isOne();
    }

    @Test
    void aKeeperWithNoRoomStaysOneUntilAMomentAfterSomethingIsDue() {
        PollLoop loop = full();
        due(loop, Duration.ofSeconds(2));

        assertThat(loop.turn()).isEqualTo(FULL.plusSeconds(2));
        this.bed.clock.advance(Duration.ofSeconds(2));
        assertThat(loop.turn()).isEqualTo(FULL);
        assertThat(this.bed.store.calls).isEmpty();
        this.bed.clock.advance(FULL);
        loop.turn();
        assertThat(this.bed.store.calls).containsExactly(RESIGN);
    }

    @Test
    void theMomentCountsFromWhenItBecameFull() {
        PollLoop loop = loop();
        this.bed.store.add("first", Duration.ZERO);
        this.bed.store.during("claim", () -> {
            loop.heard(WakeUpSignal.due(Duration.ZERO));
            this.bed.clock.advance(Duration.ofSeconds(1));
        });
        loop.turn();
        this.bed.runHandlers();

        assertThat(loop.turn()).isEqualTo(FULL);
        assertThat(this.bed.store.count("resign")).isZero();
    }

    @Test
    void roomInBetweenBeginsTheMomentAnew() {
        PollLoop loop = full();
        due(loop, Duration.ZERO);
        loop.turn();
        this.bed.clock.advance(Duration.ofMillis(3));
        finish();
        // Claims, and has no permits again after that message is handled.
        loop.turn();
        this.bed.runHandlers();
        finish();
        this.bed.clock.advance(Duration.ofSeconds(1));
        TestBed.look(loop);
        this.bed.store.add("second", Duration.ZERO);
        this.bed.store.during("claim", () -> {
            loop.heard(WakeUpSignal.due(Duration.ZERO));
            this.bed.clock.advance(Duration.ofSeconds(1));
        });
        TestBed.look(loop);
        this.bed.runHandlers();

        assertThat(loop.turn()).isEqualTo(FULL);
        assertThat(this.bed.store.calls).doesNotContain(RESIGN);
    }

    @Test
    void whoDoesNotKeepThePartitionHasNothingToResign() {
        PollLoop loop = full();
        loop.heard(KEPT_BY_ANOTHER);
        due(loop, Duration.ZERO);

        assertThat(loop.turn()).isEqualTo(TestBed.SAFETY_POLL);
        this.bed.clock.advance(Duration.ofSeconds(1));
        assertThat(loop.turn()).isEqualTo(TestBed.SAFETY_POLL);
        loop.pause(true);
        loop.turn();
        assertThat(this.bed.store.calls).isEmpty();
    }

    @Test
    void aKeeperThatPausesResignsOnce() {
        PollLoop loop = loop();
        loop.turn();
        loop.pause(true);
        loop.turn();
        loop.turn();

        assertThat(this.bed.store.calls).containsExactly("claim 1", RESIGN);
        assertThat(this.kept.count()).isZero();
    }

    @Test
    void aKeeperThatStopsResignsBeforeItGivesBack() {
        PollLoop loop = loop();
        this.bed.store.add("m", Duration.ZERO);
        loop.turn();
        loop.stop(Duration.ZERO);
        TestBed.turns(loop);

        assertThat(this.bed.store.calls).containsExactly("claim 1", RESIGN, "release [m] as before");
        assertThat(this.kept.count()).isZero();
    }

    @Test
    void whoCannotResignGoesOn() {
        try (LogCapture log = new LogCapture()) {
            PollLoop loop = loop();
            loop.turn();
            this.bed.store.fail("resign");
            loop.pause(true);

            assertThat(loop.turn()).isEqualTo(TestBed.SAFETY_POLL);
            assertThat(log.lines(Level.DEBUG)).anyMatch((line) -> line.startsWith("Cannot resign from queue 'orders'"));
            assertThat(this.kept.count()).isZero();
        }
    }

    @Test
    void aHandlerThatFinishesIsNoReasonToLook() {
        PollLoop loop = full();
        finish();
        this.bed.settle(loop);
        loop.turn();

        assertThat(this.bed.store.calls).containsExactly("acknowledge [first]");
    }

    @Test
    void aRetryIsNoReasonToLookAsTheStoreTellsOfIt() {
        PollLoop loop = full();
        this.running.completeExceptionally(new IllegalStateException("no"));
        this.bed.runHandlers();
        loop.turn();

        assertThat(this.bed.store.calls).containsExactly("retry first in PT1S");
    }

    @Test
    void whereNobodyTellsWhatHasFinishedIsAReasonToLook() {
        PollLoop loop = TestBed.loop(this.bed.queue(), this.bed.context);
        this.bed.store.add("m", Duration.ZERO);
        loop.turn();
        this.bed.runHandlers();
        this.bed.settle(loop);
        loop.turn();
        assertThat(this.bed.store.count("claim")).isEqualTo(2);

        this.bed.handler = (message, delivery) -> () -> {
            throw new IllegalStateException("no");
        };
        PollLoop failing = TestBed.loop(this.bed.queue(), this.bed.context);
        this.bed.store.add("n", Duration.ZERO);
        failing.turn();
        this.bed.runHandlers();
        this.bed.store.calls.clear();
        failing.turn();
        assertThat(this.bed.store.calls).containsExactly("claim 1");
    }

    @Test
    void whoNeedsNoRoomAnyMoreLeavesTheLine() {
        HandlerPermits shared = new HandlerPermits(1, this.context.threads(), this.bed.clock);
        this.bed.handler = (message, delivery) -> () -> this.running;
        PollLoop busy = new PollLoop(this.bed.queue(), this.context, shared);
        PollLoop waiting = new PollLoop(this.bed.queue(), this.context, shared);
        waiting.turn();
        this.bed.store.add("first", Duration.ZERO);
        busy.turn();
        this.bed.runHandlers();
        waiting.heard(WakeUpSignal.due(Duration.ZERO));
        waiting.turn();
        this.bed.store.calls.clear();

        finish();
        waiting.heard(KEPT_BY_ANOTHER);
        waiting.turn();
        busy.heard(WakeUpSignal.LOOK);
        busy.turn();
        assertThat(this.bed.store.calls).containsExactly("claim 1");
    }

}
