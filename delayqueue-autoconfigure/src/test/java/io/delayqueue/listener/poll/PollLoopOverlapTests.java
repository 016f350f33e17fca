package io.delayqueue.listener.poll;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.WakeUpSignal;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests a loop that claims while the answer to its last claim is pending: P4 (every
 * claimed message is handled), and that it holds no more messages than permitted.
 */
class PollLoopOverlapTests {

    private static final int MESSAGES = 1000;

    private final TestBed bed = new TestBed();

    private PollLoop loop;

    private CompletableFuture<Void> first;

    private CompletableFuture<Void> second;

    /** Claims once, which leaves due messages behind, and withholds the next answer. */
    private void claimOnce(int concurrency, int messages) {
        this.bed.concurrency = concurrency;
        for (int i = 0; i < messages; i++) {
            this.bed.store.add("m" + i, Duration.ZERO);
        }
        this.loop = this.bed.loop();
        this.loop.runOnce();
        this.first = this.bed.store.stall("claim");
        TestBed.poll(this.loop);
    }

    /** Does the same, and withholds the answer to a second claim. */
    private void claimTwice() {
        claimOnce(600, MESSAGES);
        this.second = this.bed.store.stall("claim");
        this.loop.runOnce();
        assertThat(claims()).containsExactly("claim 100", "claim 100", "claim 100");
    }

    private List<String> claims() {
        return this.bed.store.calls.stream().filter((call) -> call.startsWith("claim")).toList();
    }

    private static String[] ids(int from, int to) {
        return IntStream.range(from, to).mapToObj((i) -> "m" + i).toArray(String[]::new);
    }

    private static StoreUnavailableException lost() {
        return new StoreUnavailableException("No answer", Effect.UNKNOWN, null);
    }

    /** Runs iterations and handlers until all messages are handled. */
    private void handleAll() {
        for (int i = 0; i < 500 && this.bed.store.messages.size() > 0; i++) {
            Duration wait = this.loop.runOnce();
            this.bed.runHandlers();
            this.bed.clock.advance((wait != null) ? wait : TestBed.LINGER);
        }
    }

    @Test
    void twoClaimsAtMostArePending() {
        claimTwice();
        this.loop.runOnce();
        assertThat(claims()).hasSize(3);

        this.first.complete(null);
        this.loop.runOnce();
        this.bed.store.stall("claim");
        this.loop.runOnce();
        this.loop.runOnce();
        assertThat(claims()).hasSize(4);
    }

    @Test
    void fullClaimsHaveTheBacklogFlagIfTheLastOneHasLeftDueMessages() {
        claimTwice();

        assertThat(this.bed.store.backlogs).containsExactly(false, true, true);
    }

    @Test
    void aSecondClaimNeedsPermitsForAFullOne() {
        claimOnce(299, MESSAGES);
        this.loop.runOnce();

        assertThat(claims()).hasSize(2);
    }

    @Test
    void aClaimOfFewerMessagesHasNoBacklogFlag() {
        claimOnce(5, MESSAGES);
        this.first.complete(null);
        handleAll();

        assertThat(claims()).startsWith("claim 5", "claim 7");
        assertThat(this.bed.store.backlogs).startsWith(false, false);
    }

    @Test
    void oneClaimAtATimeFollowsAClaimThatChangedNothing() {
        claimTwice();
        this.first.completeExceptionally(new StoreUnavailableException("loading", Effect.NONE, null));
        this.second.complete(null);
        this.bed.clock.advance(this.loop.runOnce());
        CompletableFuture<Void> next = this.bed.store.stall("claim");
        TestBed.poll(this.loop);
        this.loop.runOnce();
        assertThat(claims().subList(3, claims().size())).hasSize(1);

        next.complete(null);
        handleAll();
        assertThat(this.bed.store.messages).isEmpty();
    }

    @Test
    void aSecondClaimNeedsDueMessagesThatTheLastOneHasLeft() {
        claimOnce(600, 50);
        TestBed.poll(this.loop);

        assertThat(claims()).hasSize(2);
        assertThat(this.bed.store.backlogs).containsExactly(false, false);
    }

    @Test
    void answersAreProcessedInTheOrderOfTheClaims() {
        claimTwice();
        this.second.complete(null);
        this.loop.runOnce();
        this.bed.runHandlers();
        assertThat(this.bed.handled).containsExactly(ids(0, 100));

        this.first.complete(null);
        this.loop.runOnce();
        this.bed.runHandlers();
        assertThat(this.bed.handled).as("both by one iteration").startsWith(ids(0, 300));
    }

    @Test
    void oneClaimAtATimeFollowsTheLossOfBothAnswers() {
        claimTwice();
        this.bed.runHandlers();
        this.first.completeExceptionally(lost());
        this.second.completeExceptionally(lost());
        Duration wait = this.loop.runOnce();
        assertThat(wait).as("one failure").isLessThan(Duration.ofMillis(150));
        this.bed.clock.advance(wait);
        assertThat(this.bed.handled).hasSize(100);
        CompletableFuture<Void> next = this.bed.store.stall("claim");
        TestBed.poll(this.loop);
        this.loop.runOnce();
        assertThat(claims().subList(3, claims().size())).containsExactly("claim 1");

        next.complete(null);
        handleAll();

        assertThat(this.bed.handled).containsExactlyInAnyOrder(ids(0, MESSAGES));
        assertThat(this.bed.store.messages).isEmpty();
        assertThat(this.loop.status().inFlight()).isZero();
    }

    @Test
    void theMessagesOfTheSecondClaimAreHandledAfterALossOfTheFirst() {
        claimTwice();
        this.first.completeExceptionally(lost());
        this.second.complete(null);
        handleAll();

        assertThat(this.bed.handled).containsExactlyInAnyOrder(ids(0, MESSAGES));
        assertThat(this.bed.store.messages).isEmpty();
        assertThat(this.loop.status().inFlight()).isZero();
    }

    @Test
    void aStopWaitsForBothAnswersAndReleasesTheirMessages() {
        claimTwice();
        this.loop.stop(Duration.ofSeconds(10));
        TestBed.iterations(this.loop);
        this.first.complete(null);
        TestBed.iterations(this.loop);
        assertThat(this.loop.end()).isNotDone();

        this.second.complete(null);
        TestBed.iterations(this.loop);

        assertThat(this.loop.end()).isDone();
        assertThat(this.bed.handled).isEmpty();
        assertThat(this.bed.store.messages.values()).hasSize(MESSAGES).allMatch((entry) -> entry.token == null);
        assertThat(claims()).hasSize(3);
    }

    @Test
    void aStopDuringTheSecondClaimReleasesTheMessagesOfTheFirst() {
        TestBed.FakeAvailability handler = new TestBed.FakeAvailability(this.bed.handler) {

            @Override
            public int claimLimit() {
                if (PollLoopOverlapTests.this.first != null && claims().size() == 2) {
                    PollLoopOverlapTests.this.loop.stop(Duration.ofSeconds(10));
                }
                return super.claimLimit();
            }

        };
        this.bed.handler = handler;
        claimOnce(600, MESSAGES);
        this.loop.runOnce();

        this.first.complete(null);
        TestBed.iterations(this.loop);

        assertThat(this.loop.end()).isDone();
        assertThat(this.bed.store.messages.values()).hasSize(MESSAGES).allMatch((entry) -> entry.token == null);
    }

    @Test
    void noSecondClaimIsSentForHandlersThatLimitTheirClaims() {
        TestBed.FakeAvailability handler = new TestBed.FakeAvailability(this.bed.handler);
        handler.limit = 99;
        this.bed.handler = handler;
        claimOnce(600, MESSAGES);
        this.loop.runOnce();

        assertThat(claims()).hasSize(2);
    }

    @Test
    void noSecondClaimIsSentForBatches() {
        this.bed.handler = new TestBed.FakeAvailability(this.bed.handler) {

            @Override
            public boolean isBatch() {
                return true;
            }

        };
        claimOnce(600, MESSAGES);
        this.loop.runOnce();

        assertThat(claims()).hasSize(2);
    }

    /** The store runs claims in the order in which they were sent. */
    @ParameterizedTest
    @ValueSource(booleans = { true, false })
    void theRoleOfThePrimaryPollerIsThatOfTheLaterClaim(boolean primary) {
        PrimaryPartitions primaryPartitions = new PrimaryPartitions(TestBed.SAFETY_POLL, this.bed.clock);
        this.bed.concurrency = 600;
        for (int i = 0; i < MESSAGES; i++) {
            this.bed.store.add("m" + i, Duration.ZERO);
        }
        this.loop = TestBed.loop(this.bed.queue(), this.bed.with().primaryPartitions(primaryPartitions).build());
        this.loop.runOnce();
        this.loop.onWakeUp(WakeUpSignal.NO_PRIMARY);
        CompletableFuture<ClaimResult> earlier = new CompletableFuture<>();
        this.bed.store.hanging.put(TestBed.QUEUE, earlier);
        TestBed.poll(this.loop);
        CompletableFuture<ClaimResult> later = new CompletableFuture<>();
        this.bed.store.hanging.put(TestBed.QUEUE, later);
        this.loop.runOnce();
        assertThat(this.bed.store.count("hang")).isEqualTo(2);

        later.complete(nothingDue(primary));
        this.loop.runOnce();
        earlier.complete(nothingDue(!primary));
        this.loop.runOnce();

        assertThat(primaryPartitions.count()).isEqualTo(primary ? 1 : 0);
    }

    private ClaimResult nothingDue(boolean primary) {
        Instant now = this.bed.clock.instant();
        return new ClaimResult(List.of(), now, now.plusSeconds(5), 0, List.of(), 0, primary);
    }

    @Test
    void noSecondClaimIsSentForHandlersThatLoopsShare() {
        this.bed.concurrency = 600;
        for (int i = 0; i < MESSAGES; i++) {
            this.bed.store.add("m" + i, Duration.ZERO);
        }
        HandlerConcurrencyLimiter limiter = new HandlerConcurrencyLimiter(600, this.bed.context.executor(),
                this.bed.clock);
        limiter.register();
        this.loop = new PollLoop(this.bed.queue(), this.bed.context, limiter);
        this.loop.runOnce();
        this.bed.store.stall("claim");
        TestBed.poll(this.loop);
        this.loop.runOnce();

        assertThat(claims()).hasSize(2);
    }

    @Test
    void aPauseLetsTheMessagesOfBothClaimsBeHandled() {
        claimTwice();
        this.loop.pause(true);
        this.first.complete(null);
        this.second.complete(null);
        this.loop.runOnce();
        this.bed.runHandlers();
        this.bed.settle(this.loop);

        assertThat(this.bed.handled).containsExactly(ids(0, 300));
        assertThat(claims()).hasSize(3);
    }

}
