package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import ch.qos.logback.classic.Level;
import io.delayqueue.DeadLetterEvent;
import io.delayqueue.fixtures.LogCapture;
import io.delayqueue.store.MessageEventRecorder;
import io.delayqueue.store.WakeUpSignal;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests P3 (it polls in time, and continues after any failure), P4 (no lease without a
 * free handler), P6 (it counts leases from before the claim) and P12 (which messages a
 * stop gives back).
 */
class PollLoopTests {

    private final TestBed bed = new TestBed();

    @Test
    void sleepsUntilTheNextMessageIsDue() {
        this.bed.store.add("later", Duration.ofSeconds(3));
        PollLoop loop = this.bed.loop();

        assertThat(loop.runOnce()).isEqualTo(Duration.ofSeconds(3));

        this.bed.clock.advance(Duration.ofSeconds(3));
        loop.runOnce();
        this.bed.runHandlers();
        assertThat(this.bed.handled).containsExactly("later");
    }

    /** A poll that is sent only when the message is due is late by a call. */
    @Test
    void sendsAPollSoThatTheFastestCallArrivesWhenTheMessageIsDue() {
        this.bed.store.add("later", Duration.ofSeconds(1));
        this.bed.store.during("claim", () -> this.bed.clock.advance(Duration.ofMillis(2)));
        PollLoop loop = this.bed.loop();
        assertThat(loop.runOnce()).as("sent 2 ms before").isEqualTo(Duration.ofMillis(1000 - 2 - 2));

        this.bed.store.during("claim", () -> this.bed.clock.advance(Duration.ofMillis(40)));
        loop.onWakeUp(WakeUpSignal.POLL_NOW);
        Duration forgotten = Duration.ofMillis(40).dividedBy(50_000);
        assertThat(loop.runOnce()).as("a slow call counts less")
            .isEqualTo(Duration.ofMillis(1000 - 42 - 2).minus(forgotten));
    }

    @Test
    void sleepsLessByTheTimeThatPassedSinceTheStoreAnswered() {
        this.bed.store.add("later", Duration.ofSeconds(3));
        this.bed.store.add("now", Duration.ZERO);
        TestBed bed = this.bed;
        bed.handler = (message, delivery) -> (continuations) -> new CompletableFuture<>();
        PollLoopContext context = bed.with().executor((task) -> {
            bed.clock.advance(Duration.ofMillis(700));
            task.run();
        }).build();
        PollLoop loop = TestBed.loop(new PartitionBinding("listener", TestBed.QUEUE, settings(2), bed.handler,
                bed.counters, MessageEventRecorder.NONE), context);

        assertThat(loop.runOnce()).isEqualTo(Duration.ofMillis(2300));
    }

    private ListenerSettings settings(int concurrency) {
        this.bed.concurrency = concurrency;
        return this.bed.listenerSettings();
    }

    @Test
    void publishesTheDeadLettersOfAClaim() {
        DeadLetterEvent death = new DeadLetterEvent(TestBed.QUEUE.queue().value(), "old", "old~1", 0, "expired");
        this.bed.store.deadLettered.add(death);

        this.bed.loop().runOnce();
        this.bed.runHandlers();

        assertThat(this.bed.events).containsExactly(death);
        assertThat(this.bed.counters.snapshot().deadLettered()).isEqualTo(1);
    }

    @Test
    void pollsAgainAtTheSafetyPollWhenTheQueueIsEmptyOrFarFromDue() {
        PollLoop loop = this.bed.loop();

        assertThat(loop.runOnce()).isBetween(Duration.ofSeconds(4), Duration.ofSeconds(5));

        this.bed.store.add("tomorrow", Duration.ofDays(1));
        assertThat(loop.runOnce()).isBetween(Duration.ofSeconds(4), Duration.ofSeconds(5));
    }

    @Test
    void claimsNoMoreThanItHasHandlersFor() {
        this.bed.concurrency = 3;
        for (int i = 0; i < 5; i++) {
            this.bed.store.add("m" + i, Duration.ZERO);
        }
        Map<String, CompletableFuture<Void>> running = new LinkedHashMap<>();
        this.bed.handler = (message, delivery) -> (continuations) -> running.computeIfAbsent(message.lease().id(),
                (id) -> new CompletableFuture<>());
        PollLoop loop = this.bed.loop();

        loop.runOnce();
        this.bed.runHandlers();
        loop.runOnce();
        assertThat(this.bed.store.calls).containsExactly("claim 3");

        running.get("m0").complete(null);
        this.bed.runHandlers();
        this.bed.settle(loop);
        assertThat(this.bed.store.calls).containsExactly("claim 3", "claim 1", "acknowledge [m0]");
        this.bed.runHandlers();
        assertThat(running).containsOnlyKeys("m0", "m1", "m2", "m3");
    }

    @Test
    void prefetchesForQuickHandlersAndReleasesMessagesThatWaitTooLong() {
        for (int i = 0; i < 300; i++) {
            this.bed.store.add("m" + i, Duration.ZERO);
        }
        CompletableFuture<Void> stuck = new CompletableFuture<>();
        boolean[] quick = { true };
        this.bed.handler = (message, delivery) -> (continuations) -> {
            this.bed.clock.advance(Duration.ofMillis(1));
            return quick[0] ? null : stuck;
        };
        PollLoop loop = this.bed.loop();
        for (int i = 0; i < 10; i++) {
            TestBed.poll(loop);
            this.bed.runHandlers();
        }
        // One per millisecond: five are handled while the next are claimed.
        assertThat(this.bed.store.calls).contains("claim 6").doesNotContain("claim 7");

        quick[0] = false;
        loop.runOnce();
        this.bed.runHandlers();
        this.bed.settle(loop);
        this.bed.store.calls.clear();
        this.bed.clock.advance(HandlerConcurrencyLimiter.STALL);
        loop.runOnce();

        assertThat(this.bed.store.calls).hasSize(1).first().asString().startsWith("release [");
    }

    @Test
    void claimsAtMostABatchAtOnce() {
        this.bed.concurrency = 1000;
        for (int i = 0; i < 150; i++) {
            this.bed.store.add("m" + i, Duration.ZERO);
        }
        PollLoop loop = this.bed.loop();

        assertThat(loop.runOnce()).isZero();
        loop.runOnce();
        this.bed.runHandlers();
        loop.runOnce();

        assertThat(this.bed.store.calls.stream().map((call) -> call.split(" ")[0] + " " + call.split("m").length))
            .containsExactly("claim 2", "claim 2", "acknowledge 101", "acknowledge 51");
        assertThat(this.bed.store.messages).isEmpty();
    }

    @Test
    void returnsTheUnusedPermitsOfAClaim() {
        this.bed.concurrency = 2;
        PollLoop loop = this.bed.loop();
        loop.runOnce();
        TestBed.poll(loop);

        assertThat(this.bed.store.calls).containsExactly("claim 2", "claim 2");
    }

    /**
     * Creates a loop that only its scheduler wakes, and that handles on its own thread.
     */
    private PollLoop sleepyLoop() {
        PollLoopContext context = this.bed.with()
            .executor(Runnable::run)
            .settings(new SharedListenerSettings(Duration.ZERO, Duration.ofDays(1), null, false,
                    HandlerExecution.DEFAULT))
            .build();
        return TestBed.loop(this.bed.queue(), context);
    }

    @Test
    void pollsAgainAtOnceAfterAWakeUpDuringItsClaim() {
        CompletableFuture<Void> answer = this.bed.store.stall("claim");
        PollLoop loop = sleepyLoop();
        loop.start(this.bed.store);
        // The claim has found nothing, and its answer is pending.
        this.bed.store.add("m", Duration.ZERO);
        this.bed.store.wakeUp(TestBed.QUEUE);
        assertThat(this.bed.store.count("claim")).isOne();
        answer.complete(null);

        assertThat(this.bed.handled).containsExactly("m");
    }

    @Test
    void restsAgainAfterAWakeUp() {
        PollLoop loop = sleepyLoop();
        loop.start(this.bed.store);
        this.bed.store.wakeUp(TestBed.QUEUE);
        assertThat(this.bed.store.count("claim")).isEqualTo(2);

        this.bed.timer.advance(Duration.ofHours(1));
        assertThat(this.bed.store.count("claim")).isEqualTo(2);
    }

    @Test
    void wakesForAFreedPermitAndForAWakeUp() {
        PollLoop loop = this.bed.loop();
        this.bed.store.add("a", Duration.ZERO);
        loop.start(this.bed.store);
        this.bed.store.add("b", Duration.ZERO);
        this.bed.store.wakeUp(TestBed.QUEUE);
        assertThat(this.bed.store.count("claim")).isOne();

        this.bed.handlers.poll().run();
        assertThat(this.bed.store.count("claim")).isEqualTo(2);
        this.bed.handlers.poll().run();
        this.bed.timer.advance(TestBed.LINGER);
        assertThat(this.bed.handled).containsExactly("a", "b");
        assertThat(this.bed.store.calls).contains("acknowledge [a, b]");

        this.bed.store.wakeUp(TestBed.QUEUE);
        assertThat(this.bed.store.count("claim")).isGreaterThan(2);
    }

    @Test
    void retriesWithGrowingButShortPausesWhileTheStoreIsAway() {
        this.bed.concurrency = 2;
        this.bed.store.fail("claim");
        PollLoop loop = this.bed.loop();
        List<Duration> pauses = new ArrayList<>();

        for (int i = 0; i < 10; i++) {
            Duration pause = loop.runOnce();
            pauses.add(pause);
            this.bed.clock.advance(pause);
        }

        assertThat(pauses.get(0)).isBetween(Duration.ofMillis(80), Duration.ofMillis(120));
        assertThat(pauses.get(1)).isBetween(Duration.ofMillis(160), Duration.ofMillis(240));
        // The loop calls the store within a second of its recovery, after any outage.
        assertThat(pauses.get(9)).isBetween(Duration.ofMillis(400), Duration.ofMillis(600));
        assertThat(this.bed.store.calls).hasSize(10).first().isEqualTo("claim 2");
        assertThat(this.bed.store.calls.subList(1, 10)).containsOnly("claim 1");

        this.bed.store.recover();
        assertThat(loop.runOnce()).isGreaterThan(Duration.ofSeconds(3));
        this.bed.store.fail("claim");
        assertThat(TestBed.poll(loop)).isLessThan(Duration.ofMillis(150));
    }

    @Test
    void warnsOnceForAllQueuesOfAnOutageAndLogsItsEnd() {
        try (LogCapture log = new LogCapture()) {
            PollLoop one = this.bed.loop();
            PollLoop other = this.bed.loop();
            this.bed.store.fail("claim");
            one.runOnce();
            other.runOnce();
            one.runOnce();
            assertThat(log.lines(Level.WARN)).hasSize(1).first().asString().contains("'orders'");

            this.bed.clock.advance(Duration.ofSeconds(61));
            other.runOnce();
            assertThat(log.lines(Level.WARN)).hasSize(2);

            this.bed.store.recover();
            one.runOnce();
            assertThat(log.lines(Level.INFO)).hasSize(1);
        }
    }

    @Test
    void continuesAfterAnyError() {
        boolean[] broken = { false };
        PollLoopContext context = this.bed.with().executor(Runnable::run).nanoTime(() -> {
            if (broken[0]) {
                broken[0] = false;
                throw new StackOverflowError("a bug");
            }
            return this.bed.clock.getAsLong();
        }).build();
        PollLoop loop = TestBed.loop(this.bed.queue(), context);
        try (LogCapture log = new LogCapture()) {
            broken[0] = true;
            loop.start(this.bed.store);
            assertThat(log.lines(Level.ERROR)).hasSize(1);
            assertThat(this.bed.store.count("claim")).isZero();

            this.bed.timer.advance(Duration.ofMillis(120));
            assertThat(this.bed.store.count("claim")).isOne();
        }
    }

    @Test
    void hasAnIterationInEachSafetyPollWhateverBecomesOfItsPlan() {
        LoopTimer forgetful = new LoopTimer() {

            @Override
            public long nanoTime() {
                return PollLoopTests.this.bed.timer.nanoTime();
            }

            @Override
            public Runnable after(Duration delay, Runnable task) {
                throw new OutOfMemoryError("no memory for another task");
            }

            @Override
            public Runnable every(Duration period, Runnable task) {
                return PollLoopTests.this.bed.timer.every(period, task);
            }

            @Override
            public void pause(Duration duration) {
                throw new UnsupportedOperationException();
            }

        };
        PollLoopContext context = this.bed.with().executor(Runnable::run).timer(forgetful).build();
        TestBed.loop(this.bed.queue(), context).start(this.bed.store);
        this.bed.store.add("m", Duration.ZERO);

        this.bed.timer.advance(TestBed.SAFETY_POLL);
        assertThat(this.bed.handled).containsExactly("m");
    }

    @Test
    void keepsItsPermitsWhenAClaimThrows() {
        this.bed.concurrency = 2;
        PollLoop loop = this.bed.loop();
        this.bed.store.during("claim", () -> {
            throw new StackOverflowError("a bug");
        });
        for (int i = 0; i < 3; i++) {
            this.bed.clock.advance(loop.runOnce());
        }
        this.bed.store.during("claim", () -> {
        });
        loop.runOnce();
        TestBed.poll(loop);
        assertThat(this.bed.store.calls).containsExactly("claim 2", "claim 1", "claim 1", "claim 1", "claim 2");
    }

    @Test
    void claimsNothingWhilePaused() {
        PollLoop loop = this.bed.loop();
        this.bed.store.add("m", Duration.ZERO);
        loop.pause(true);
        loop.runOnce();
        assertThat(this.bed.store.calls).isEmpty();

        loop.pause(false);
        this.bed.handleOnce(loop);
        assertThat(this.bed.handled).containsExactly("m");
    }

    /** The loop waits as long as its handler says, whatever wakes it. */
    @Test
    void claimsNothingWhileItsHandlerIsUnavailable() {
        TestBed.FakeAvailability handler = new TestBed.FakeAvailability(this.bed.handler);
        this.bed.handler = handler;
        PollLoop loop = this.bed.loop();
        this.bed.store.add("m", Duration.ZERO);
        handler.until = Duration.ofSeconds(3);
        assertThat(TestBed.poll(loop)).isEqualTo(Duration.ofSeconds(3));
        assertThat(this.bed.store.calls).isEmpty();

        handler.until = Duration.ZERO;
        this.bed.handleOnce(loop);
        assertThat(this.bed.handled).containsExactly("m");
    }

    @Test
    void claimsNoMoreThanItsHandlerAllows() {
        TestBed.FakeAvailability handler = new TestBed.FakeAvailability(this.bed.handler);
        this.bed.handler = handler;
        this.bed.concurrency = 10;
        PollLoop loop = this.bed.loop();
        handler.limit = 1;
        TestBed.poll(loop);
        handler.limit = Integer.MAX_VALUE;
        TestBed.poll(loop);
        assertThat(this.bed.store.calls).containsExactly("claim 1", "claim 10");
    }

    @Test
    void releasesMessagesForWhichThereIsNoThread() {
        this.bed.concurrency = 2;
        this.bed.rejecting = true;
        this.bed.store.add("m", Duration.ZERO);
        PollLoop loop = this.bed.loop();

        Duration pause = loop.runOnce();
        assertThat(pause).isLessThan(Duration.ofMillis(150));
        this.bed.clock.advance(pause);
        TestBed.poll(loop);

        assertThat(this.bed.store.calls).containsExactly("claim 2", "release [m] as before", "claim 2",
                "release [m] as before");
        assertThat(this.bed.store.messages.get("m").failures).isZero();
    }

    @Test
    void logsOnceAMinuteThatItsExecutorRejectsHandlers() {
        try (LogCapture log = new LogCapture()) {
            this.bed.rejecting = true;
            this.bed.store.add("m", Duration.ZERO);
            PollLoop loop = this.bed.loop();
            for (int i = 0; i < 3; i++) {
                this.bed.clock.advance(loop.runOnce());
                TestBed.poll(loop);
            }
            assertThat(log.lines(Level.WARN)).hasSize(1)
                .first()
                .asString()
                .startsWith("The executor rejects the handlers of listener 'listener' on queue 'orders'");

            this.bed.clock.advance(Duration.ofMinutes(1));
            TestBed.poll(loop);
            assertThat(log.lines(Level.WARN)).hasSize(2);
        }
    }

}
