package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;

import ch.qos.logback.classic.Level;
import io.delayqueue.DeadLetterEvent;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.fixtures.LogCapture;
import io.delayqueue.fixtures.ManualNanoClock;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.WakeUpSignal;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests how a loop reacts to failures of the store and the process: P3 (no wait is longer
 * than the safety poll), P4 (every claimed message is handled) and that permits are kept.
 */
class PollLoopFailureTests {

    private final TestBed bed = new TestBed();

    private final CompletableFuture<Object> stuck = new CompletableFuture<>();

    private PollLoop handled(String... ids) {
        this.bed.concurrency = ids.length;
        for (String id : ids) {
            this.bed.store.add(id, Duration.ZERO);
        }
        PollLoop loop = this.bed.loop();
        loop.runOnce();
        this.bed.runHandlers();
        loop.pause(true);
        this.bed.store.calls.clear();
        return loop;
    }

    private PartitionBinding queue() {
        return this.bed.queue();
    }

    @Test
    void claimsOneAfterAClaimOfUnknownEffectAndDoublesFromThere() {
        this.bed.concurrency = 5;
        PollLoop loop = this.bed.loop();
        this.bed.store.fail("claim");
        this.bed.clock.advance(loop.runOnce());
        this.bed.clock.advance(loop.runOnce());
        this.bed.store.recover();
        for (int i = 0; i < 4; i++) {
            TestBed.poll(loop);
        }

        assertThat(this.bed.store.calls).containsExactly("claim 5", "claim 1", "claim 1", "claim 2", "claim 4",
                "claim 5");
    }

    @Test
    void claimsAsManyAsBeforeAfterAClaimThatChangedNothing() {
        this.bed.concurrency = 5;
        PollLoop loop = this.bed.loop();
        this.bed.store.failure = new StoreRefusedException("READONLY", null);
        this.bed.store.fail("claim");
        this.bed.clock.advance(loop.runOnce());
        loop.runOnce();

        assertThat(this.bed.store.calls).containsExactly("claim 5", "claim 5");
    }

    @Test
    void claimsNotBeforeTheBackoffIsOverWhateverRequestsAnIteration() {
        PollLoop loop = this.bed.loop();
        this.bed.store.fail("claim");
        Duration pause = loop.runOnce();
        this.bed.clock.advance(pause.minusNanos(1));
        this.bed.store.recover();

        loop.onWakeUp(WakeUpSignal.dueIn(Duration.ZERO, null));
        assertThat(loop.runOnce()).isEqualTo(Duration.ofNanos(1));
        assertThat(this.bed.store.count("claim")).isOne();
        this.bed.clock.advance(Duration.ofNanos(1));
        loop.runOnce();
        assertThat(this.bed.store.count("claim")).isEqualTo(2);
    }

    @Test
    void claimsAtOnceWhenASubscriptionIsBack() {
        PollLoop loop = this.bed.loop();
        this.bed.store.fail("claim");
        loop.runOnce();
        this.bed.store.recover();

        loop.onWakeUp(WakeUpSignal.POLL_NOW);
        loop.runOnce();
        assertThat(this.bed.store.count("claim")).isEqualTo(2);
    }

    @Test
    void retriesAcknowledgementsWhenAnotherHandlerFinishes() {
        LeaseRenewer renewer = new LeaseRenewer(queue(), this.bed.context);
        AcknowledgementBatcher acknowledgements = new AcknowledgementBatcher(queue(), this.bed.context, renewer);
        List<InFlightMessage> leases = claimed("a", "b", "c", "d");
        assertThat(acknowledgements.add(leases.get(0))).isTrue();
        this.bed.store.fail("acknowledge");
        assertThat(acknowledgements.accept(acknowledgements.send())).isFalse();

        assertThat(acknowledgements.add(leases.get(1))).isTrue();
        this.bed.store.recover();
        assertThat(acknowledgements.accept(acknowledgements.send())).isTrue();
        assertThat(acknowledgements.add(leases.get(2))).isTrue();
        assertThat(acknowledgements.add(leases.get(3))).isFalse();
    }

    private List<InFlightMessage> claimed(String... ids) {
        for (String id : ids) {
            this.bed.store.add(id, Duration.ZERO);
        }
        long now = this.bed.clock.getAsLong();
        ClaimResult claim = this.bed.store
            .claim(TestBed.QUEUE, new ClaimRequest(ids.length, TestBed.LEASE, this.bed.expiryPolicy))
            .join();
        InFlightMessage.Times times = new InFlightMessage.Times(now, now, claim.now());
        return claim.messages().stream().map((message) -> new InFlightMessage(message, times, TestBed.LEASE)).toList();
    }

    /** Simulates handlers that were quick, and then never end. */
    private PollLoop stuckAfterQuickOnes(PollLoopContext context, int stuck) {
        this.bed.handler = (message, delivery) -> (continuations) -> {
            this.bed.handled.add(message.lease().id());
            if (message.lease().id().startsWith("stuck")) {
                return this.stuck;
            }
            if (this.bed.maxAttempts == 1) {
                throw new IllegalStateException("quick to fail");
            }
            return null;
        };
        this.bed.concurrency = 2;
        PollLoop loop = TestBed.loop(queue(), context);
        claimQuick(loop);
        for (int i = 0; i < stuck; i++) {
            this.bed.store.add("stuck" + i, Duration.ZERO);
        }
        TestBed.poll(loop);
        this.bed.runHandlers();
        return loop;
    }

    private void claimQuick(PollLoop loop) {
        this.bed.store.add("quick0", Duration.ZERO);
        this.bed.store.add("quick1", Duration.ZERO);
        loop.runOnce();
        this.bed.clock.advance(Duration.ofMillis(2));
        this.bed.runHandlers();
    }

    private PollLoopContext primaryPollerRuntime() {
        return this.bed.with().primaryPartitions(new PrimaryPartitions(TestBed.SAFETY_POLL, this.bed.clock)).build();
    }

    @Test
    void aPrimaryPollerWhoseHandlersHangResignsOnceAndRests() {
        PollLoop loop = stuckAfterQuickOnes(primaryPollerRuntime(), 20);
        this.bed.clock.advance(TestBed.LINGER);
        Duration wait = loop.runOnce();
        for (int i = 0; i < 3; i++) {
            this.bed.clock.advance(wait);
            wait = loop.runOnce();
        }
        assertThat(this.bed.store.count("resign")).as("while messages wait").isOne();

        this.bed.clock.advance(HandlerConcurrencyLimiter.STALL);
        loop.runOnce();
        assertThat(this.bed.store.count("release")).isOne();
        assertThat(loop.runOnce()).isGreaterThan(HandlerConcurrencyLimiter.STALL);
        assertThat(this.bed.store.count("resign")).isOne();
    }

    @Test
    void wakesToReleaseWaitingMessagesThoughNothingElseIsDue() {
        this.bed.maxAttempts = 1;
        PollLoop loop = stuckAfterQuickOnes(this.bed.context, 4);
        Duration wait = loop.runOnce();
        assertThat(wait).isEqualTo(HandlerConcurrencyLimiter.STALL);

        this.bed.clock.advance(wait);
        loop.runOnce();
        assertThat(this.bed.store.count("release")).isOne();
    }

    @Test
    void startsAThreadForWaitingMessagesOnceThereIsOneAgain() {
        PollLoop loop = stuckAfterQuickOnes(this.bed.context, 4);
        this.bed.rejecting = true;
        this.stuck.complete(null);
        this.bed.rejecting = false;
        assertThat(this.bed.handled).containsExactly("quick0", "quick1", "stuck0", "stuck1");

        loop.runOnce();
        this.bed.runHandlers();
        assertThat(this.bed.handled).hasSize(6);
    }

    @Test
    void claimsAgainOnceThereAreThreadsAgain() {
        this.bed.concurrency = 2;
        PollLoop loop = TestBed.loop(queue(), this.bed.context);
        claimQuick(loop);
        for (int i = 0; i < 20; i++) {
            this.bed.store.add("late" + i, Duration.ZERO);
        }
        this.bed.rejecting = true;
        TestBed.poll(loop);
        this.bed.rejecting = false;
        for (int i = 0; i < 200; i++) {
            this.bed.clock.advance(loop.runOnce());
            this.bed.runHandlers();
        }

        assertThat(this.bed.handled).hasSize(22).doesNotHaveDuplicates();
    }

    @Test
    void dispatchesBeforeItPublishesAndNeverPublishesInAnIteration() {
        DeadLetterEvent death = new DeadLetterEvent(TestBed.QUEUE.queue().value(), "old", "old~1", 0, "expired");
        this.bed.store.deadLettered.add(death);
        this.bed.store.add("m", Duration.ZERO);
        int[] threads = { 1 };
        PollLoopContext context = this.bed.with().executor((task) -> {
            if (threads[0]-- <= 0) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            this.bed.handlers.add(task);
        }).build();
        PollLoop loop = TestBed.loop(queue(), context);
        loop.runOnce();

        assertThat(this.bed.events).as("with no thread for them").isEmpty();
        this.bed.runHandlers();
        assertThat(this.bed.handled).containsExactly("m");
        this.bed.settle(loop);
        assertThat(this.bed.store.calls).containsExactly("claim 1", "acknowledge [m]");
    }

    @Test
    void publishesDeadLettersOnAnExtraThreadIfABusyExecutorRejectsThem() {
        DeadLetterEvent death = new DeadLetterEvent(TestBed.QUEUE.queue().value(), "old", "old~1", 0, "expired");
        this.bed.store.deadLettered.add(death);
        List<Runnable> extra = new ArrayList<>();
        HandlerExecutor busy = new HandlerExecutor((task) -> {
            throw new RejectedExecutionException("busy");
        }, true, null, Runnable::run, extra::add);
        TestBed.loop(queue(), this.bed.with().executor(busy).build()).runOnce();

        assertThat(this.bed.events).as("in the iteration").isEmpty();
        extra.forEach(Runnable::run);
        assertThat(this.bed.events).containsExactly(death);
    }

    @Test
    void sendsTheAcknowledgementsOfARejectedBatchSingly() {
        PollLoop loop = handled("a", "b", "c");
        this.bed.store.poison = "b";
        try (LogCapture log = new LogCapture()) {
            loop.runOnce();
            loop.runOnce();
            loop.runOnce();

            assertThat(this.bed.store.calls).containsExactly("acknowledge [a, b, c]", "acknowledge [a]",
                    "acknowledge [b]", "acknowledge [c]", "acknowledge [b]");
            assertThat(this.bed.store.messages).containsOnlyKeys("b");
            assertThat(log.lines(Level.WARN)).hasSize(1);
            assertThat(log.lines(Level.INFO)).isEmpty();
        }
    }

    @Test
    void letsALeaseRunOutWhoseAcknowledgementIsRejected() {
        this.bed.store.add("m", Duration.ZERO);
        LeaseRenewer renewer = new LeaseRenewer(queue(), this.bed.context);
        AcknowledgementBatcher acknowledgements = new AcknowledgementBatcher(queue(), this.bed.context, renewer);
        long now = this.bed.clock.getAsLong();
        InFlightMessage lease = this.bed.store
            .claim(TestBed.QUEUE, new ClaimRequest(1, TestBed.LEASE, this.bed.expiryPolicy))
            .thenApply((claim) -> new InFlightMessage(claim.messages().get(0),
                    new InFlightMessage.Times(now, now, claim.now()), TestBed.LEASE))
            .join();
        renewer.add(lease);
        renewer.start();
        acknowledgements.add(lease);
        this.bed.store.poison = "m";
        assertThat(acknowledgements.accept(acknowledgements.send())).isFalse();
        assertThat(acknowledgements.isEmpty()).isFalse();
        this.bed.timer.advance(TestBed.LEASE);
        acknowledgements.accept(acknowledgements.send());

        assertThat(this.bed.store.count("extend")).isZero();
        assertThat(acknowledgements.isEmpty()).isTrue();
        assertThat(acknowledgements.send()).isEmpty();
    }

    @Test
    void neverWaitsLongerThanTheSafetyPoll() {
        Duration safetyPoll = Duration.ofMillis(50);
        PollLoopContext context = this.bed.with()
            .executor(Runnable::run)
            .settings(new SharedListenerSettings(Duration.ZERO, safetyPoll, null, false, HandlerExecution.DEFAULT))
            .build();
        for (int i = 0; i < 100; i++) {
            assertThat(TestBed.loop(queue(), context).runOnce()).isBetween(safetyPoll.multipliedBy(4).dividedBy(5),
                    safetyPoll);
        }
        this.bed.store.fail("claim");
        PollLoop loop = TestBed.loop(queue(), context);
        assertThat(List.of(loop.runOnce(), loop.runOnce(), loop.runOnce()))
            .allMatch((wait) -> wait.compareTo(safetyPoll) <= 0);
    }

    private static String expired(String count, String example) {
        return "Expired and dropped: %s of queue 'orders'%s; further ones are summed up once a minute".formatted(count,
                example);
    }

    @Test
    void expiredMessagesAreLoggedInOneLineAMinute() {
        for (int i = 0; i < 50; i++) {
            this.bed.store.deadLettered.add(new DeadLetterEvent("orders", "m" + i, "m" + i + "~", 0, "expired"));
        }
        PollLoop loop = this.bed.loop();
        try (LogCapture log = new LogCapture()) {
            TestBed.poll(loop);
            assertThat(log.lines(Level.WARN)).containsExactly(expired("50 messages", " ('m0' is one of them)"));

            for (int i = 0; i < 3; i++) {
                TestBed.poll(loop);
                this.bed.clock.advance(Duration.ofSeconds(20));
            }
            this.bed.store.deadLettered.clear();
            TestBed.poll(loop);
            assertThat(log.lines(Level.WARN)).containsExactly(expired("50 messages", " ('m0' is one of them)"),
                    expired("150 messages", " ('m0' is one of them)"));

            this.bed.store.add("late", Duration.ZERO).expiresAt = ManualNanoClock.START;
            this.bed.handleOnce(loop);
            loop.stop(Duration.ZERO);
            TestBed.iterations(loop);
            assertThat(log.lines(Level.WARN)).containsExactly(expired("50 messages", " ('m0' is one of them)"),
                    expired("150 messages", " ('m0' is one of them)"), expired("1 message", " ('late')"));
            assertThat(log.lines(Level.ERROR)).isEmpty();
        }
        this.bed.runHandlers();
        assertThat(this.bed.events).hasSize(200);
        assertThat(this.bed.counters.snapshot().expired()).isEqualTo(201);
        assertThat(this.bed.counters.snapshot().deadLettered()).isEqualTo(200);
    }

}
