package io.delayqueue.listener.poll;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.lang.reflect.UndeclaredThrowableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import ch.qos.logback.classic.Level;
import io.delayqueue.DeadLetterEvent;
import io.delayqueue.Delivery;
import io.delayqueue.HandlerTimeoutException;
import io.delayqueue.PayloadConversionException;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.DeadLetterReason;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Lease;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests P5 (a lost lease settles nothing and is reported), P6 (no handler starts without
 * a live lease) and P9 (failures up to the maximum, then one dead letter; lapses apart).
 * Runs through the loop, which sends the acknowledgements.
 */
class DeliveryProcessorTests {

    private final TestBed bed = new TestBed();

    private final LogCapture log = new LogCapture();

    private FakeStore.Entry message;

    @BeforeEach
    void addMessage() {
        this.message = this.bed.store.add("m", Duration.ZERO);
    }

    @AfterEach
    void close() {
        this.log.close();
    }

    private void handle() {
        this.bed.handleOnce(this.bed.loop());
    }

    private void handlerThrows(Throwable failure) {
        this.bed.handler = (message, delivery) -> () -> {
            this.bed.handled.add(message.lease().id());
            throw failure;
        };
    }

    private ListenerStatistics statistics() {
        return this.bed.counters.snapshot();
    }

    @Test
    void acknowledgesWhatItsHandlerHandled() {
        handle();

        assertThat(this.bed.store.calls).containsExactly("claim 1", "acknowledge [m]");
        assertThat(statistics()).isEqualTo(new ListenerStatistics(1, 0, 0, 0, 0, 0, 0, 0));
        assertThat(this.bed.store.messages).isEmpty();
    }

    @Test
    void triesAgainAfterAGrowingWaitAndThenLetsItDieOnce() {
        handlerThrows(new IllegalStateException("boom"));
        PollLoop loop = this.bed.loop();
        this.bed.handleOnce(loop);
        this.bed.clock.advance(Duration.ofSeconds(1));
        this.bed.handleOnce(loop);
        this.bed.clock.advance(Duration.ofSeconds(2));
        this.bed.handleOnce(loop);
        this.bed.clock.advance(Duration.ofHours(1));
        this.bed.handleOnce(loop);

        assertThat(this.bed.store.calls).filteredOn((call) -> !call.startsWith("claim"))
            .containsExactly("retry m in PT1S", "retry m in PT2S", "deadLetter m");
        assertThat(this.bed.handled).hasSize(3);
        assertThat(this.bed.events)
            .containsExactly(new DeadLetterEvent("orders", "m", "m~3", 3, "java.lang.IllegalStateException: boom"));
        DeadLetterReason death = this.bed.store.dead.get("m~3");
        assertThat(death.failed()).isTrue();
        assertThat(death.cause()).startsWith("java.lang.IllegalStateException: boom").contains("\tat ");
        assertThat(death.dueAt()).isEqualTo(TestClock.START.plusSeconds(3).plus(TestBed.LINGER));
        assertThat(statistics()).isEqualTo(new ListenerStatistics(0, 3, 2, 1, 0, 0, 0, 0));
    }

    @Test
    void saysWhatFollowsFromAFailure() {
        handlerThrows(new IllegalStateException("boom"));
        this.bed.maxAttempts = 2;
        PollLoop loop = this.bed.loop();
        this.bed.handleOnce(loop);
        assertThat(this.log.lines(Level.WARN)).containsExactly("Message 'm' of queue 'orders' failed on attempt 1 "
                + "and is due again in 1 s: java.lang.IllegalStateException: boom");

        this.bed.clock.advance(Duration.ofSeconds(1));
        this.bed.handleOnce(loop);
        assertThat(this.log.lines(Level.ERROR)).hasSize(1)
            .first()
            .asString()
            .startsWith("Message 'm' of queue 'orders' is dead after attempt 2");
        assertThat(this.log.at(Level.ERROR).findFirst().orElseThrow().getThrowableProxy()).isNotNull();
    }

    @Test
    void keepsOnlySoMuchOfAStack() {
        handlerThrows(new IllegalStateException("x".repeat(10_000)));
        this.bed.maxAttempts = 1;
        handle();

        assertThat(this.bed.store.dead.get("m~1").cause()).hasSize(FailureSummary.MAX_CAUSE).endsWith("...");
        assertThat(((DeadLetterEvent) this.bed.events.get(0)).reason()).hasSize(500);
    }

    @Test
    void countsErrorsAsFailures() {
        handlerThrows(new NoClassDefFoundError("Gone"));
        handle();

        assertThat(this.bed.store.count("retry")).isOne();
    }

    @Test
    void doesNotTryAgainAfterWhatIsFinal() {
        this.bed.noRetryFor = Set.of(IOException.class);
        handlerThrows(new FileNotFoundException("gone"));
        handle();

        assertThat(this.bed.store.dead).containsOnlyKeys("m~1");
    }

    @Test
    void looksIntoMereWrappersForWhatIsFinal() {
        this.bed.noRetryFor = Set.of(IOException.class);
        handlerThrows(new UndeclaredThrowableException(new CompletionException(new IOException("gone"))));
        handle();

        assertThat(this.bed.store.dead).hasSize(1);
    }

    @Test
    void triesAgainAfterAnExceptionWhoseCauseIsFinal() {
        this.bed.noRetryFor = Set.of(IOException.class);
        handlerThrows(new IllegalStateException(new IOException("a part of it")));
        handle();

        assertThat(this.bed.store.dead).isEmpty();
        assertThat(this.bed.store.count("retry")).isOne();
    }

    @Test
    void letsAMessageDieAtOnceThatItsHandlerCannotRead() {
        this.bed.handler = (message, delivery) -> {
            throw new PayloadConversionException("The payload cannot be read as Order: at line 1", null);
        };
        handle();

        DeadLetterReason death = this.bed.store.dead.get("m~1");
        assertThat(death.failed()).isFalse();
        assertThat(death.cause()).contains("cannot be read as Order");
        assertThat(statistics()).isEqualTo(new ListenerStatistics(0, 0, 0, 1, 0, 0, 0, 0));
    }

    @Test
    void triesAgainWhenReadingFailsByAnError() {
        this.bed.handler = (message, delivery) -> {
            throw new OutOfMemoryError("just now");
        };
        handle();

        assertThat(this.bed.store.dead).isEmpty();
        assertThat(this.bed.store.count("retry")).isOne();
    }

    @Test
    void goesOnWhenAListenerForADeathThrows() {
        handlerThrows(new IllegalStateException("boom"));
        this.bed.maxAttempts = 1;
        ListenerRuntime context = new ListenerRuntime(this.bed.store, (event) -> {
            throw new IllegalStateException("listener");
        }, this.bed.context.threads(), this.bed.timer, this.bed.context.outage(), this.bed.context.clocks(),
                TestBed.PARTITIONS, null, this.bed.context.settings(), this.bed.clock);
        PollLoop loop = TestBed.loop(this.bed.queue(), context);
        this.bed.handleOnce(loop);
        this.bed.store.add("next", Duration.ZERO);
        this.bed.handleOnce(loop);

        assertThat(this.bed.store.dead).hasSize(2);
        assertThat(this.log.lines(Level.WARN)).anyMatch((line) -> line.contains("A listener for the dead letter"));
    }

    @Test
    void givesBackAtTheHandlersWishWithoutBurningAnAttempt() {
        this.bed.handler = (message, delivery) -> () -> {
            delivery.deadLetter("no");
            delivery.retryAfter(Duration.ofMinutes(5));
            return null;
        };
        handle();

        assertThat(this.bed.store.calls).contains("release [m] in PT5M").doesNotContain("acknowledge [m]");
        assertThat(this.message.failures).isZero();
    }

    @Test
    void letsAMessageDieAtTheHandlersWish() {
        this.bed.handler = (message, delivery) -> () -> {
            delivery.deadLetter("account closed");
            return null;
        };
        handle();

        assertThat(this.bed.store.dead)
            .containsExactlyEntriesOf(Map.of("m~1", new DeadLetterReason("account closed", false, TestClock.START)));
        assertThat(this.bed.events).containsExactly(new DeadLetterEvent("orders", "m", "m~1", 0, "account closed"));
    }

    @Test
    void takesAHandlerThatThrowsForFailedWhateverItWished() {
        this.bed.handler = (message, delivery) -> () -> {
            delivery.retryAfter(Duration.ofMinutes(5));
            throw new IllegalStateException("boom");
        };
        handle();

        assertThat(this.bed.store.calls).contains("retry m in PT1S");
    }

    @Test
    void doesNotStartAHandlerAfterTheLocalEndOfTheLease() {
        PollLoop loop = this.bed.loop();
        loop.turn();
        this.bed.clock.advance(TestBed.LEASE);
        this.bed.runHandlers();

        assertThat(this.bed.handled).isEmpty();
        assertThat(this.bed.store.calls).containsExactly("claim 1", "release [m] as before");
        assertThat(this.message.failures).isZero();
    }

    @Test
    void recordsNoStartAfterTheLocalEndOfTheLease() {
        this.message.suspect = true;
        PollLoop loop = this.bed.loop();
        loop.turn();
        this.bed.clock.advance(TestBed.LEASE);
        this.bed.runHandlers();

        assertThat(this.bed.store.calls).containsExactly("claim 1", "release [m] as before");
    }

    @Test
    void countsTheLeaseFromBeforeTheClaimWasSent() {
        PollLoop loop = this.bed.loop();
        this.bed.store.during("claim", () -> this.bed.clock.advance(Duration.ofSeconds(2)));
        loop.turn();
        this.bed.clock.advance(Duration.ofSeconds(28));
        this.bed.runHandlers();

        assertThat(this.bed.handled).isEmpty();
    }

    @Test
    void looksAtTheLeaseOnceMoreRightBeforeTheHandler() {
        this.bed.handler = (message, delivery) -> {
            this.bed.clock.advance(TestBed.LEASE);
            return () -> {
                this.bed.handled.add("m");
                return null;
            };
        };
        handle();

        assertThat(this.bed.handled).isEmpty();
        assertThat(this.bed.store.count("release")).isOne();
    }

    @Test
    void dropsWhatExpiresBeforeItsHandlerStarts() {
        this.message.expiresAt = TestClock.START.plusSeconds(2);
        PollLoop loop = this.bed.loop();
        loop.turn();
        this.bed.clock.advance(Duration.ofSeconds(2));
        this.bed.runHandlers();

        assertThat(this.bed.handled).isEmpty();
        assertThat(this.bed.store.calls).containsExactly("claim 1", "acknowledge [m]");
        assertThat(statistics()).isEqualTo(new ListenerStatistics(0, 0, 0, 0, 1, 0, 0, 0));
    }

    @Test
    void keepsADeadLetterOfWhatExpiresIfAsked() {
        this.message.expiresAt = TestClock.START.plusSeconds(2);
        this.bed.expiredPolicy = ExpiryPolicy.DEAD_LETTER;
        PollLoop loop = this.bed.loop();
        loop.turn();
        this.bed.clock.advance(Duration.ofSeconds(2));
        this.bed.runHandlers();

        assertThat(this.bed.store.dead.get("m~1")).isEqualTo(new DeadLetterReason("expired", false, TestClock.START));
    }

    @Test
    void handlesWhatHasNotExpiredYet() {
        this.message.expiresAt = TestClock.START.plusSeconds(2);
        PollLoop loop = this.bed.loop();
        loop.turn();
        this.bed.clock.advance(Duration.ofMillis(1999));
        this.bed.runHandlers();

        assertThat(this.bed.handled).containsExactly("m");
    }

    @Test
    void recordsTheStartOfASuspectBeforeItsHandler() {
        this.message.suspect = true;
        this.bed.handler = (message, delivery) -> {
            this.bed.store.calls.add("read");
            return () -> {
                this.bed.store.calls.add("handle");
                return null;
            };
        };
        handle();

        assertThat(this.bed.store.calls).containsSubsequence("claim 1", "start m", "read", "handle", "acknowledge [m]");
        assertThat(statistics().lapsed()).isOne();
    }

    @Test
    void doesNotHandleASuspectWhoseStartIsTurnedAway() {
        this.message.suspect = true;
        this.bed.store.during("start", () -> this.message.token = "another");
        handle();

        assertThat(this.bed.handled).isEmpty();
        assertThat(statistics().refused()).isOne();
    }

    @Test
    void doesNotHandleASuspectWhoseStartMayNotBeRecorded() {
        this.message.suspect = true;
        this.bed.store.fail("start");
        handle();

        assertThat(this.bed.handled).isEmpty();
        assertThat(this.log.lines(Level.WARN)).hasSize(1).first().asString().contains("Cannot start the handler");
    }

    @Test
    void letsAMessageDieThatLapsedTooOftenWithoutHandlingIt() {
        this.message.suspect = true;
        this.message.lapses = 3;
        handle();

        assertThat(this.bed.handled).isEmpty();
        assertThat(this.bed.store.dead.get("m~1").cause()).contains("lease ran out 3 times");
        assertThat(this.bed.store.dead.get("m~1").failed()).isFalse();
    }

    @Test
    void letsAMessageDieWhoseFailuresReachALoweredMaximum() {
        this.message.failures = 3;
        handle();

        assertThat(this.bed.handled).isEmpty();
        assertThat(this.bed.store.dead.get("m~1").cause()).contains("failed 3 times");
        assertThat(this.bed.events)
            .containsExactly(new DeadLetterEvent("orders", "m", "m~1", 3, "It has failed 3 times (max-attempts is 3)"));
    }

    @Test
    void tellsOfASettlementThatIsTurnedAway() {
        handlerThrows(new IllegalStateException("boom"));
        PollLoop loop = this.bed.loop();
        this.bed.store.during("retry", () -> this.message.token = "another");
        this.bed.handleOnce(loop);

        assertThat(statistics()).isEqualTo(new ListenerStatistics(0, 1, 0, 0, 0, 1, 0, 0));
        assertThat(this.log.lines(Level.WARN)).hasSize(1)
            .first()
            .asString()
            .startsWith("Message 'm' of queue 'orders' outlived its lease on attempt 1, so that it may be handled "
                    + "again; here it failed with")
            .contains("boom");
    }

    @Test
    void settlesAgainWhileTheLeaseLastsAndTakesNoFailureOfTheStoreForOneOfTheHandler() {
        handlerThrows(new IllegalStateException("boom"));
        this.bed.store.fail("retry");
        handle();

        assertThat(this.bed.store.count("retry")).isGreaterThan(5);
        assertThat(this.bed.timer.pauses.get(0)).isBetween(Duration.ofMillis(80), Duration.ofMillis(120));
        assertThat(Duration.between(TestClock.START, this.bed.clock.instant())).isLessThanOrEqualTo(TestBed.LEASE);
        assertThat(this.log.lines(Level.WARN)).hasSize(1)
            .first()
            .asString()
            .startsWith("Cannot settle message 'm' of queue 'orders'");
        assertThat(statistics().failed()).isOne();
    }

    @Test
    void settlesOnceTheStoreAnswersAgain() {
        handlerThrows(new IllegalStateException("boom"));
        this.bed.store.fail("retry");
        this.bed.store.during("retry", () -> {
            if (this.bed.store.count("retry") == 3) {
                this.bed.store.mend();
            }
        });
        handle();

        assertThat(this.message.failures).isOne();
        assertThat(this.log.lines(Level.WARN)).hasSize(1).first().asString().contains("is due again in 1 s");
    }

    @Test
    void tellsTheHandlerWhatItWorksOn() {
        this.message.failures = 1;
        this.message.lapses = 2;
        List<Delivery> seen = new ArrayList<>();
        List<Duration> late = new ArrayList<>();
        this.bed.handler = (message, delivery) -> () -> {
            seen.add(delivery);
            late.add(delivery.lateness());
            return null;
        };
        PollLoop loop = this.bed.loop();
        this.bed.clock.advance(Duration.ofSeconds(1));
        loop.turn();
        this.bed.clock.advance(Duration.ofMillis(500));
        this.bed.runHandlers();

        Delivery delivery = seen.get(0);
        assertThat(delivery.queue()).isEqualTo("orders");
        assertThat(delivery.id()).isEqualTo("m");
        assertThat(delivery.attempt()).isEqualTo(2);
        assertThat(delivery.lapses()).isEqualTo(2);
        assertThat(delivery.dueAt()).isEqualTo(TestClock.START);
        assertThat(late).containsExactly(Duration.ofMillis(1500));
    }

    @Test
    void prolongsALeaseForTheHandler() {
        List<Boolean> answers = new ArrayList<>();
        this.bed.handler = (message, delivery) -> () -> {
            answers.add(delivery.extend(Duration.ofMinutes(10)));
            this.bed.clock.advance(Duration.ofMinutes(9));
            answers.add(delivery.isLeased());
            this.message.token = "another";
            answers.add(delivery.extend(Duration.ofMinutes(10)));
            answers.add(delivery.isLeased());
            return null;
        };
        handle();

        assertThat(answers).containsExactly(true, true, false, false);
    }

    @Test
    void tellsTheHandlerWhenTheStoreDoesNotProlong() {
        this.bed.store.fail("extend");
        handle();
        this.bed.store.add("n", Duration.ZERO);
        List<Throwable> thrown = new ArrayList<>();
        this.bed.handler = (message, delivery) -> () -> {
            try {
                delivery.extend(Duration.ofMinutes(10));
            }
            catch (RuntimeException ex) {
                thrown.add(ex);
            }
            return null;
        };
        handle();

        assertThat(thrown).hasSize(1).first().isInstanceOf(StoreUnavailableException.class);
    }

    @Test
    void namesTheMessageToTheLogAndForgetsItAfterwards() {
        MDC.put("delayqueue.id", "outer");
        List<String> seen = new ArrayList<>();
        this.bed.handler = (message, delivery) -> () -> {
            seen.add(
                    MDC.get("delayqueue.queue") + " " + MDC.get("delayqueue.id") + " " + MDC.get("delayqueue.attempt"));
            MDC.put("delayqueue.attempt", "99");
            return null;
        };
        try {
            handle();
            assertThat(seen).containsExactly("orders m 1");
            assertThat(MDC.get("delayqueue.id")).isEqualTo("outer");
            assertThat(MDC.get("delayqueue.queue")).isNull();
            assertThat(MDC.get("delayqueue.attempt")).isNull();
        }
        finally {
            MDC.remove("delayqueue.id");
        }
    }

    @Test
    void interruptsAHandlerThatTakesTooLongAndTakesItForFailed() {
        this.bed.timeout = Duration.ofSeconds(10);
        this.bed.handler = (message, delivery) -> () -> {
            this.bed.timer.advance(Duration.ofSeconds(11));
            assertThat(Thread.currentThread().isInterrupted()).isTrue();
            throw new InterruptedException();
        };
        handle();

        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(this.bed.store.count("retry")).isOne();
        assertThat(this.log.lines(Level.WARN)).hasSize(1)
            .first()
            .asString()
            .contains(HandlerTimeoutException.class.getSimpleName())
            .contains("10 s");
    }

    @Test
    void letsAHandlerSucceedThatReturnsAfterItsTimeout() {
        this.bed.timeout = Duration.ofSeconds(10);
        this.bed.handler = (message, delivery) -> () -> {
            this.bed.timer.advance(Duration.ofSeconds(11));
            return null;
        };
        handle();

        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(this.bed.store.messages).isEmpty();
        assertThat(statistics().handled()).isOne();
    }

    @Test
    void interruptsNothingOnceTheHandlerHasReturned() {
        this.bed.timeout = Duration.ofSeconds(10);
        handle();
        assertThat(this.bed.timer.isEmpty()).isTrue();

        InFlightMessage held = new InFlightMessage(
                this.message.lease(new Lease(TestBed.QUEUE, "m", "9"), TestClock.START),
                new InFlightMessage.Times(this.bed.clock.getAsLong(), this.bed.clock.getAsLong(), TestClock.START),
                TestBed.LEASE);
        HandlerTimeout timeout = HandlerTimeout.start(held, Duration.ofSeconds(1), this.bed.timer);
        timeout.returned();
        this.bed.timer.advance(Duration.ofSeconds(2));
        assertThat(Thread.interrupted()).isFalse();
        assertThat(timeout.end()).isTrue();
    }

    @Test
    void leavesNoInterruptThatAHandlerSetBehind() {
        this.bed.handler = (message, delivery) -> () -> {
            Thread.currentThread().interrupt();
            return null;
        };
        PollLoop loop = this.bed.loop();
        loop.turn();
        this.bed.runHandlers();

        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void waitsForTheFutureOfAHandlerWithoutItsThread() {
        CompletableFuture<String> future = new CompletableFuture<>();
        this.bed.handler = (message, delivery) -> () -> future;
        PollLoop loop = this.bed.loop();
        loop.turn();
        this.bed.runHandlers();
        loop.turn();
        assertThat(this.bed.store.calls).containsExactly("claim 1");
        assertThat(statistics().running()).isOne();

        future.complete("done");
        assertThat(this.bed.handlers).hasSize(1);
        this.bed.runHandlers();
        this.bed.settle(loop);
        assertThat(this.bed.store.calls).containsExactly("claim 1", "acknowledge [m]");
        assertThat(statistics().running()).isZero();
    }

    @Test
    void takesTheFailureOfAFutureForTheHandlers() {
        this.bed.handler = (message, delivery) -> () -> CompletableFuture.supplyAsync(() -> {
            throw new IllegalStateException("boom");
        }, Runnable::run);
        handle();

        assertThat(this.log.lines(Level.WARN)).hasSize(1)
            .first()
            .asString()
            .endsWith("is due again in 1 s: java.lang.IllegalStateException: boom");
    }

    @Test
    void cancelsAFutureThatTakesTooLong() {
        this.bed.timeout = Duration.ofSeconds(10);
        CompletableFuture<String> future = new CompletableFuture<>();
        this.bed.handler = (message, delivery) -> () -> future;
        PollLoop loop = this.bed.loop();
        loop.turn();
        this.bed.runHandlers();

        this.bed.timer.advance(Duration.ofSeconds(11));
        assertThat(future).isNotDone();
        this.bed.runHandlers();

        assertThat(future).isCancelled();
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(this.bed.store.calls).containsExactly("claim 1", "retry m in PT1S");
        assertThat(this.log.lines(Level.WARN)).hasSize(1)
            .first()
            .asString()
            .contains(HandlerTimeoutException.class.getSimpleName());
    }

    @Test
    void takesACancelledFutureForFailed() {
        CompletableFuture<String> future = new CompletableFuture<>();
        future.cancel(true);
        this.bed.handler = (message, delivery) -> () -> future;
        handle();

        assertThat(this.bed.store.count("retry")).isOne();
        assertThat(this.log.lines(Level.WARN).get(0)).contains(CancellationException.class.getSimpleName());
    }

    @Test
    void letsAMessageDieThoughTheHandlerGivesNoReason() {
        this.bed.handler = (message, delivery) -> () -> {
            delivery.deadLetter(new IllegalStateException().getMessage());
            return null;
        };
        handle();

        assertThat(this.bed.store.dead).containsOnlyKeys("m~1");
        assertThat(this.bed.store.dead.get("m~1").cause()).isEqualTo(HandlerDelivery.NO_REASON);
        assertThat(this.bed.events).hasSize(1);
    }

    @Test
    void failsAHandlerThatWishesForNoDelay() {
        this.bed.handler = (message, delivery) -> () -> {
            delivery.retryAfter(null);
            return null;
        };
        handle();

        assertThat(this.bed.store.calls).contains("retry m in PT1S");
        assertThat(this.log.lines(Level.WARN)).first().asString().contains("NullPointerException: delay");
    }

}
