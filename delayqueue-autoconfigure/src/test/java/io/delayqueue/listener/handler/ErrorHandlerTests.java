package io.delayqueue.listener.handler;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import ch.qos.logback.classic.Level;
import io.delayqueue.DeadLetterEvent;
import io.delayqueue.Delivery;
import io.delayqueue.ErrorDecision;
import io.delayqueue.HandlerTimeoutException;
import io.delayqueue.PayloadConversionException;
import io.delayqueue.fixtures.LogCapture;
import io.delayqueue.fixtures.ManualNanoClock;
import io.delayqueue.fixtures.store.ListenerFakeStore;
import io.delayqueue.listener.poll.ListenerStatistics;
import io.delayqueue.listener.poll.PollLoop;
import io.delayqueue.listener.poll.TestBed;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests that an error handler decides how a message is settled after a failed attempt,
 * and that P9 (no more attempts than the maximum, no message dropped) holds whatever it
 * decides.
 */
class ErrorHandlerTests {

    private final TestBed bed = new TestBed();

    private final LogCapture log = new LogCapture();

    private final List<Throwable> errors = new ArrayList<>();

    private ListenerFakeStore.Entry message;

    @BeforeEach
    void addMessage() {
        this.message = this.bed.store.add("m", Duration.ZERO);
        handlerThrows(new IllegalStateException("boom"));
    }

    @AfterEach
    void close() {
        this.log.close();
    }

    private void handlerThrows(Throwable failure) {
        this.bed.handler = (message, delivery) -> (continuations) -> {
            throw failure;
        };
    }

    private void decide(ErrorDecision decision) {
        this.bed.errorHandler = (delivery, error) -> {
            this.errors.add(error);
            return decision;
        };
    }

    private List<String> handle() {
        this.bed.handleOnce(this.bed.loop());
        return this.bed.store.calls.stream().filter((call) -> !call.startsWith("claim")).toList();
    }

    private ListenerStatistics statistics() {
        return this.bed.counters.snapshot();
    }

    @Test
    void retriesAfterItsDelay() {
        decide(ErrorDecision.retry(Duration.ofHours(2)));

        assertThat(handle()).containsExactly("retry m in PT2H");
        assertThat(statistics()).isEqualTo(new ListenerStatistics(0, 1, 1, 0, 0, 0, 0, 0));
    }

    @Test
    void retriesAfterTheBackoffThoughTheExceptionIsFinal() {
        this.bed.noRetryFor = Set.of(IllegalStateException.class);
        decide(ErrorDecision.retry());

        assertThat(handle()).containsExactly("retry m in PT1S");
    }

    @Test
    void cannotRetryBeyondTheMaximumOfAttempts() {
        this.bed.maxAttempts = 2;
        this.message.failures = 1;
        decide(ErrorDecision.retry(Duration.ofSeconds(1)));

        assertThat(handle()).containsExactly("deadLetter m");
        assertThat(this.bed.store.dead.get("m~1").cause()).startsWith("java.lang.IllegalStateException: boom");
    }

    @Test
    void deadLettersWithTheException() {
        decide(ErrorDecision.deadLetter());

        assertThat(handle()).containsExactly("deadLetter m");
        assertThat(this.bed.store.dead.get("m~1").failed()).isTrue();
        assertThat(this.bed.store.dead.get("m~1").cause()).startsWith("java.lang.IllegalStateException: boom")
            .contains("\tat ");
        assertThat(this.bed.events)
            .containsExactly(new DeadLetterEvent("orders", "m", "m~1", 1, "java.lang.IllegalStateException: boom"));
    }

    @Test
    void deadLettersWithItsReason() {
        decide(ErrorDecision.deadLetter("the customer is gone"));

        assertThat(handle()).containsExactly("deadLetter m");
        assertThat(this.bed.store.dead.get("m~1").cause()).isEqualTo("the customer is gone");
        assertThat(this.bed.events)
            .containsExactly(new DeadLetterEvent("orders", "m", "m~1", 1, "the customer is gone"));
        assertThat(this.log.at(Level.ERROR).findFirst().orElseThrow().getThrowableProxy()).isNotNull();
    }

    @Test
    void releasesWithoutCountingTheAttempt() {
        this.bed.maxAttempts = 1;
        decide(ErrorDecision.release(Duration.ofSeconds(30)));

        assertThat(handle()).containsExactly("release [m] in PT30S");
        assertThat(this.message.failures).isZero();
        assertThat(statistics()).isEqualTo(new ListenerStatistics(0, 1, 0, 0, 0, 0, 0, 0));
        assertThat(this.log.lines(Level.WARN)).containsExactly("Message 'm' of queue 'orders' failed on attempt 1, "
                + "which does not count, as its error handler has released it; it is due again in 30 s: "
                + "java.lang.IllegalStateException: boom");
    }

    @Test
    void mayLeaveTheDecisionToTheSettings() {
        this.bed.noRetryFor = Set.of(IOException.class);
        decide(ErrorDecision.standard());
        assertThat(handle()).containsExactly("retry m in PT1S");

        handlerThrows(new IOException("gone"));
        this.bed.clock.advance(Duration.ofSeconds(1));
        assertThat(handle()).containsExactly("retry m in PT1S", "deadLetter m");
    }

    @Test
    void receivesTheExceptionWithoutWrappers() {
        IOException gone = new IOException("gone");
        this.bed.handler = (message,
                delivery) -> (continuations) -> CompletableFuture.failedFuture(new CompletionException(gone));
        decide(ErrorDecision.retry());
        handle();

        assertThat(this.errors).containsExactly(gone);
    }

    @Test
    void receivesTheDeliveryInTheContextOfItsMessage() {
        List<String> seen = new ArrayList<>();
        this.message.failures = 1;
        this.bed.errorHandler = (delivery, error) -> {
            seen.add("%s %s %d %s %s".formatted(delivery.queue(), delivery.id(), delivery.attempt(),
                    delivery.isLeased(), MDC.get("delayqueue.id")));
            return ErrorDecision.standard();
        };
        handle();

        assertThat(seen).containsExactly("orders m 2 true m");
    }

    @Test
    void decidesAfterATimeoutToo() {
        this.bed.timeout = Duration.ofSeconds(5);
        this.bed.handler = (message, delivery) -> (continuations) -> {
            this.bed.timer.advance(Duration.ofSeconds(5));
            throw new InterruptedException();
        };
        decide(ErrorDecision.release(Duration.ofSeconds(1)));

        assertThat(handle()).containsExactly("release [m] in PT1S");
        assertThat(this.errors).singleElement().isInstanceOf(HandlerTimeoutException.class);
    }

    /** A node of an older version may leave a message of a newer one to newer nodes. */
    @Test
    void decidesOnAMessageThatCannotBeRead() {
        PayloadConversionException unreadable = new PayloadConversionException("not readable", null);
        this.bed.handler = (message, delivery) -> {
            throw unreadable;
        };
        decide(ErrorDecision.release(Duration.ofMinutes(1)));

        assertThat(handle()).containsExactly("release [m] in PT1M");
        assertThat(this.errors).containsExactly(unreadable);
    }

    @Test
    void mayGiveTheReasonForAMessageThatCannotBeRead() {
        this.bed.handler = (message, delivery) -> {
            throw new PayloadConversionException("not readable", null);
        };
        decide(ErrorDecision.deadLetter("of a version that is not supported"));

        assertThat(handle()).containsExactly("deadLetter m");
        assertThat(this.bed.store.dead.get("m~1").cause()).isEqualTo("of a version that is not supported");
        assertThat(this.bed.store.dead.get("m~1").failed()).isFalse();
    }

    @Test
    void cannotRetryAMessageThatCannotBeReadBeyondTheMaximum() {
        this.bed.maxAttempts = 1;
        this.bed.handler = (message, delivery) -> {
            throw new PayloadConversionException("not readable", null);
        };
        decide(ErrorDecision.retry());

        assertThat(handle()).containsExactly("deadLetter m");
    }

    @Test
    void isNotAskedWhileTheHandlerIsUnavailable() {
        handlerThrows(new HandlerUnavailableException("broker is away", null));
        decide(ErrorDecision.deadLetter());

        assertThat(handle()).containsExactly("release [m] as before");
        assertThat(this.errors).isEmpty();
    }

    @Test
    void isNotAskedAboutAnExpiredMessage() {
        this.message.expiresAt = ManualNanoClock.START.plusSeconds(2);
        decide(ErrorDecision.retry());
        PollLoop loop = this.bed.loop();
        TestBed.poll(loop);
        this.bed.clock.advance(Duration.ofSeconds(2));
        this.bed.runHandlers();

        assertThat(this.errors).isEmpty();
    }

    @Test
    void isReplacedByTheSettingsIfItThrows() {
        this.bed.errorHandler = (delivery, error) -> {
            throw new IllegalArgumentException("broken");
        };

        assertThat(handle()).containsExactly("retry m in PT1S");
        assertThat(this.log.lines(Level.ERROR)).singleElement()
            .asString()
            .startsWith("The error handler of listener 'listener' failed for message 'm' of queue 'orders', attempt 1");
    }

    @Test
    void isReplacedByTheSettingsIfItReturnsNull() {
        decide(null);

        assertThat(handle()).containsExactly("retry m in PT1S");
        assertThat(this.log.lines(Level.ERROR)).hasSize(1);
    }

    @Test
    void leavesNoInterruptToTheNextMessage() {
        this.bed.errorHandler = (delivery, error) -> {
            Thread.currentThread().interrupt();
            return ErrorDecision.deadLetter();
        };
        handle();

        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void hasNoEffectByTheDelivery() {
        this.bed.errorHandler = (Delivery delivery, Throwable error) -> {
            delivery.retryAfter(Duration.ofDays(1));
            return ErrorDecision.standard();
        };

        assertThat(handle()).containsExactly("retry m in PT1S");
    }

    @Test
    void cannotDecideOnADelayThatNoMessageMayHave() {
        assertThatIllegalArgumentException().isThrownBy(() -> ErrorDecision.retry(Duration.ofMillis(-1)))
            .withMessage("Delay -1 ms is not valid: use zero to 36500 days");
        assertThatIllegalArgumentException().isThrownBy(() -> ErrorDecision.release(Duration.ofDays(36_501)));
    }

}
