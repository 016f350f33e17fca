package io.delayqueue.listener.poll;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.lang.reflect.UndeclaredThrowableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import ch.qos.logback.classic.Level;
import io.delayqueue.DeadLetterEvent;
import io.delayqueue.PayloadConversionException;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.fixtures.LogCapture;
import io.delayqueue.fixtures.ManualNanoClock;
import io.delayqueue.fixtures.store.ListenerFakeStore;
import io.delayqueue.listener.handler.HandlerUnavailableException;
import io.delayqueue.store.DeadLetterRequest;
import io.delayqueue.store.ExpiryPolicy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
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

    private ListenerFakeStore.Entry message;

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
        this.bed.handler = (message, delivery) -> (continuations) -> {
            this.bed.handled.add(message.lease().id());
            throw failure;
        };
    }

    private ListenerStatistics statistics() {
        return this.bed.counters.snapshot();
    }

    @Test
    void acknowledgesAHandledMessage() {
        handle();

        assertThat(this.bed.store.calls).containsExactly("claim 1", "acknowledge [m]");
        assertThat(statistics()).isEqualTo(new ListenerStatistics(1, 0, 0, 0, 0, 0, 0, 0));
        assertThat(this.bed.store.messages).isEmpty();
    }

    @Test
    void retriesAfterAGrowingWaitAndThenDeadLettersOnce() {
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
        DeadLetterRequest request = this.bed.store.dead.get("m~3");
        assertThat(request.failed()).isTrue();
        assertThat(request.cause()).startsWith("java.lang.IllegalStateException: boom").contains("\tat ");
        assertThat(request.dueAt()).isEqualTo(ManualNanoClock.START.plusSeconds(3).plus(TestBed.LINGER));
        assertThat(statistics()).isEqualTo(new ListenerStatistics(0, 3, 2, 1, 0, 0, 0, 0));
    }

    @Test
    void logsTheConsequenceOfAFailure() {
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
            .startsWith("Message 'm' of queue 'orders' is dead-lettered on attempt 2");
        assertThat(this.log.at(Level.ERROR).findFirst().orElseThrow().getThrowableProxy()).isNotNull();
    }

    @Test
    void boundsTheStackTraceThatItStores() {
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
    void doesNotRetryAfterAFinalException() {
        this.bed.noRetryFor = Set.of(IOException.class);
        handlerThrows(new FileNotFoundException("gone"));
        handle();

        assertThat(this.bed.store.dead).containsOnlyKeys("m~1");
    }

    /**
     * A handler that can process no message at the moment, or whose future says so: no
     * attempt counts, however often it happens, and the due time stays.
     */
    @ParameterizedTest
    @ValueSource(booleans = { false, true })
    void releasesWithItsDueTimeIfTheHandlerIsUnavailable(boolean async) {
        HandlerUnavailableException unavailable = new HandlerUnavailableException("broker is away", null);
        if (async) {
            this.bed.handler = (message, delivery) -> (continuations) -> CompletableFuture.failedFuture(unavailable);
        }
        else {
            handlerThrows(unavailable);
        }
        this.bed.maxAttempts = 1;
        PollLoop loop = this.bed.loop();
        for (int i = 0; i < 5; i++) {
            this.bed.handleOnce(loop);
            this.bed.clock.advance(Duration.ofSeconds(1));
        }

        assertThat(this.bed.store.calls).filteredOn((call) -> !call.startsWith("claim"))
            .hasSizeGreaterThan(4)
            .containsOnly("release [m] as before");
        assertThat(this.message.failures).isZero();
        assertThat(this.message.dueAt).isEqualTo(ManualNanoClock.START);
        assertThat(statistics()).isEqualTo(new ListenerStatistics(0, 0, 0, 0, 0, 0, 0, 0));
        assertThat(this.log.lines(Level.WARN)).isEmpty();
    }

    @Test
    void findsFinalExceptionsInWrappers() {
        this.bed.noRetryFor = Set.of(IOException.class);
        handlerThrows(new UndeclaredThrowableException(new CompletionException(new IOException("gone"))));
        handle();

        assertThat(this.bed.store.dead).hasSize(1);
    }

    @Test
    void retriesAfterAnExceptionWhoseCauseIsFinal() {
        this.bed.noRetryFor = Set.of(IOException.class);
        handlerThrows(new IllegalStateException(new IOException("a part of it")));
        handle();

        assertThat(this.bed.store.dead).isEmpty();
        assertThat(this.bed.store.count("retry")).isOne();
    }

    @Test
    void deadLettersAnUnreadableMessageAtOnce() {
        this.bed.handler = (message, delivery) -> {
            throw new PayloadConversionException("The payload cannot be read as Order: at line 1", null);
        };
        handle();

        DeadLetterRequest request = this.bed.store.dead.get("m~1");
        assertThat(request.failed()).isFalse();
        assertThat(request.cause()).contains("cannot be read as Order");
        assertThat(statistics()).isEqualTo(new ListenerStatistics(0, 0, 0, 1, 0, 0, 0, 0));
    }

    @Test
    void retriesWhenReadingFailsByAnError() {
        this.bed.handler = (message, delivery) -> {
            throw new OutOfMemoryError("just now");
        };
        handle();

        assertThat(this.bed.store.dead).isEmpty();
        assertThat(this.bed.store.count("retry")).isOne();
    }

    @Test
    void continuesWhenAListenerOfADeadLetterThrows() {
        handlerThrows(new IllegalStateException("boom"));
        this.bed.maxAttempts = 1;
        PollLoopContext context = this.bed.with().events((event) -> {
            throw new IllegalStateException("listener");
        }).build();
        PollLoop loop = TestBed.loop(this.bed.queue(), context);
        this.bed.handleOnce(loop);
        this.bed.store.add("next", Duration.ZERO);
        this.bed.handleOnce(loop);

        assertThat(this.bed.store.dead).hasSize(2);
        assertThat(this.log.lines(Level.WARN))
            .anyMatch((line) -> line.contains("A listener of DeadLetterEvent failed"));
    }

    @Test
    void doesNotStartAHandlerAfterTheLocalEndOfTheLease() {
        PollLoop loop = this.bed.loop();
        loop.runOnce();
        this.bed.clock.advance(TestBed.LEASE);
        this.bed.runHandlers();

        assertThat(this.bed.handled).isEmpty();
        assertThat(this.bed.store.calls).containsExactly("claim 1", "release [m] as before");
        assertThat(this.message.failures).isZero();
    }

    @Test
    void recordsNoStartAfterTheLocalEndOfTheLease() {
        this.message.redelivered = true;
        PollLoop loop = this.bed.loop();
        loop.runOnce();
        this.bed.clock.advance(TestBed.LEASE);
        this.bed.runHandlers();

        assertThat(this.bed.store.calls).containsExactly("claim 1", "release [m] as before");
    }

    @Test
    void countsTheLeaseFromBeforeTheClaimWasSent() {
        PollLoop loop = this.bed.loop();
        this.bed.store.during("claim", () -> this.bed.clock.advance(Duration.ofSeconds(2)));
        loop.runOnce();
        this.bed.clock.advance(Duration.ofSeconds(28));
        this.bed.runHandlers();

        assertThat(this.bed.handled).isEmpty();
    }

    @Test
    void checksTheLeaseOnceMoreRightBeforeTheHandler() {
        this.bed.handler = (message, delivery) -> {
            this.bed.clock.advance(TestBed.LEASE);
            return (continuations) -> {
                this.bed.handled.add("m");
                return null;
            };
        };
        handle();

        assertThat(this.bed.handled).isEmpty();
        assertThat(this.bed.store.count("release")).isOne();
    }

    @Test
    void dropsAMessageThatExpiresBeforeItsHandlerStarts() {
        this.message.expiresAt = ManualNanoClock.START.plusSeconds(2);
        PollLoop loop = this.bed.loop();
        loop.runOnce();
        this.bed.clock.advance(Duration.ofSeconds(2));
        this.bed.runHandlers();

        assertThat(this.bed.handled).isEmpty();
        assertThat(this.bed.store.calls).containsExactly("claim 1", "acknowledge [m]");
        assertThat(statistics()).isEqualTo(new ListenerStatistics(0, 0, 0, 0, 1, 0, 0, 0));
    }

    @Test
    void deadLettersAnExpiredMessageIfConfigured() {
        this.message.expiresAt = ManualNanoClock.START.plusSeconds(2);
        this.bed.expiryPolicy = ExpiryPolicy.DEAD_LETTER;
        PollLoop loop = this.bed.loop();
        loop.runOnce();
        this.bed.clock.advance(Duration.ofSeconds(2));
        this.bed.runHandlers();

        assertThat(this.bed.store.dead.get("m~1"))
            .isEqualTo(new DeadLetterRequest("expired", false, ManualNanoClock.START));
    }

    @Test
    void handlesAMessageThatHasNotExpiredYet() {
        this.message.expiresAt = ManualNanoClock.START.plusSeconds(2);
        PollLoop loop = this.bed.loop();
        loop.runOnce();
        this.bed.clock.advance(Duration.ofMillis(1999));
        this.bed.runHandlers();

        assertThat(this.bed.handled).containsExactly("m");
    }

    @Test
    void recordsTheStartOfARedeliveredMessageBeforeItsHandler() {
        this.message.redelivered = true;
        this.bed.handler = (message, delivery) -> {
            this.bed.store.calls.add("read");
            return (continuations) -> {
                this.bed.store.calls.add("handle");
                return null;
            };
        };
        handle();

        assertThat(this.bed.store.calls).containsSubsequence("claim 1", "start m", "read", "handle", "acknowledge [m]");
        assertThat(statistics().redelivered()).isOne();
    }

    @Test
    void doesNotHandleARedeliveredMessageWhoseStartIsRejected() {
        this.message.redelivered = true;
        this.bed.store.during("start", () -> this.message.token = "another");
        handle();

        assertThat(this.bed.handled).isEmpty();
        assertThat(statistics().leasesLost()).isOne();
    }

    @Test
    void doesNotHandleARedeliveredMessageWhoseStartMayNotBeRecorded() {
        this.message.redelivered = true;
        this.bed.store.fail("start");
        handle();

        assertThat(this.bed.handled).isEmpty();
        assertThat(this.log.lines(Level.WARN)).hasSize(1).first().asString().contains("Cannot start the handler");
    }

    /** P9: the start may be recorded, so the end of the lease would count as a lapse. */
    @Test
    void releasesARedeliveredMessageWhoseStartIsNotAnswered() {
        this.message.redelivered = true;
        this.bed.store.fail("start");
        PollLoop loop = this.bed.loop();
        this.bed.handleOnce(loop);
        this.bed.store.recover();
        this.bed.runHandlers();
        this.bed.settle(loop);

        assertThat(this.bed.store.calls).containsSubsequence("start m", "release [m] as before", "start m",
                "acknowledge [m]");
        assertThat(this.bed.handled).containsExactly("m");
    }

    /** Released, it would be claimed and refused again and again. */
    @Test
    void leavesARedeliveredMessageWhoseStartIsRefusedToItsLease() {
        this.message.redelivered = true;
        this.bed.store.failure = new StoreRefusedException("NOPERM", null);
        this.bed.store.fail("start");
        handle();

        assertThat(this.bed.store.count("start")).isOne();
        assertThat(this.bed.store.count("release")).isZero();
    }

    @Test
    void deadLettersAMessageThatLapsedTooOftenWithoutHandlingIt() {
        this.message.redelivered = true;
        this.message.lapses = 3;
        handle();

        assertThat(this.bed.handled).isEmpty();
        assertThat(this.bed.store.dead.get("m~1").cause()).contains("lease ran out 3 times");
        assertThat(this.bed.store.dead.get("m~1").failed()).isFalse();
    }

    @Test
    void deadLettersAMessageWhoseFailuresReachALoweredMaximum() {
        this.message.failures = 3;
        handle();

        assertThat(this.bed.handled).isEmpty();
        assertThat(this.bed.store.dead.get("m~1").cause()).contains("failed 3 times");
        assertThat(this.bed.events)
            .containsExactly(new DeadLetterEvent("orders", "m", "m~1", 3, "It has failed 3 times (max-attempts is 3)"));
    }

    @Test
    void logsARejectedSettlement() {
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
    void retriesSettlementsWhileTheLeaseLastsAndCountsNoFailureOfTheHandler() {
        handlerThrows(new IllegalStateException("boom"));
        this.bed.store.fail("retry");
        handle();

        assertThat(this.bed.store.count("retry")).isGreaterThan(5);
        assertThat(this.bed.timer.pauses.get(0)).isBetween(Duration.ofMillis(80), Duration.ofMillis(120));
        assertThat(this.bed.timer.pauses.stream().reduce(Duration.ZERO, Duration::plus)).isLessThan(TestBed.LEASE);
        assertThat(this.log.lines(Level.WARN)).hasSize(1)
            .first()
            .asString()
            .startsWith("Cannot settle message 'm' of queue 'orders'");
        assertThat(statistics().failed()).isOne();
    }

    /** Each pause would end at once, as after the shutdown of an executor. */
    @Test
    void retriesNoSettlementOnAThreadThatIsInterrupted() {
        handlerThrows(new IllegalStateException("boom"));
        this.bed.store.fail("retry");
        this.bed.store.during("retry", Thread.currentThread()::interrupt);
        handle();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(this.bed.store.count("retry")).isOne();
    }

    @Test
    void settlesOnceTheStoreAnswersAgain() {
        handlerThrows(new IllegalStateException("boom"));
        this.bed.store.fail("retry");
        this.bed.store.during("retry", () -> {
            if (this.bed.store.count("retry") == 3) {
                this.bed.store.recover();
            }
        });
        handle();

        assertThat(this.message.failures).isOne();
        assertThat(this.log.lines(Level.WARN)).hasSize(1).first().asString().contains("is due again in 1 s");
    }

    @Test
    void putsTheMessageIntoTheMdcAndRemovesItAfterwards() {
        MDC.put("delayqueue.id", "outer");
        List<String> seen = new ArrayList<>();
        this.bed.handler = (message, delivery) -> (continuations) -> {
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

}
