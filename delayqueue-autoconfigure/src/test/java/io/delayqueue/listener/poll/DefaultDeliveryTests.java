package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import ch.qos.logback.classic.Level;
import io.delayqueue.DeadLetterEvent;
import io.delayqueue.Delivery;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.fixtures.LogCapture;
import io.delayqueue.fixtures.ManualNanoClock;
import io.delayqueue.fixtures.store.ListenerFakeStore;
import io.delayqueue.store.DeadLetterRequest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests what a handler can read from its delivery and decide with it. */
class DefaultDeliveryTests {

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

    @Test
    void releasesForTheHandlerWithoutCountingAnAttempt() {
        this.bed.handler = (message, delivery) -> (continuations) -> {
            delivery.deadLetter("no");
            delivery.retryAfter(Duration.ofMinutes(5));
            return null;
        };
        handle();

        assertThat(this.bed.store.calls).contains("release [m] in PT5M").doesNotContain("acknowledge [m]");
        assertThat(this.message.failures).isZero();
    }

    @Test
    void deadLettersForTheHandler() {
        this.bed.handler = (message, delivery) -> (continuations) -> {
            delivery.deadLetter("account closed");
            return null;
        };
        handle();

        assertThat(this.bed.store.dead).containsExactlyEntriesOf(
                Map.of("m~1", new DeadLetterRequest("account closed", false, ManualNanoClock.START)));
        assertThat(this.bed.events).containsExactly(new DeadLetterEvent("orders", "m", "m~1", 0, "account closed"));
    }

    @Test
    void aHandlerThatThrowsHasFailedWhateverItDecided() {
        this.bed.handler = (message, delivery) -> (continuations) -> {
            delivery.retryAfter(Duration.ofMinutes(5));
            throw new IllegalStateException("boom");
        };
        handle();

        assertThat(this.bed.store.calls).contains("retry m in PT1S");
    }

    @Test
    void describesTheMessageToTheHandler() {
        this.message.failures = 1;
        this.message.lapses = 2;
        List<Delivery> seen = new ArrayList<>();
        List<Duration> late = new ArrayList<>();
        this.bed.handler = (message, delivery) -> (continuations) -> {
            seen.add(delivery);
            late.add(delivery.lateness());
            return null;
        };
        PollLoop loop = this.bed.loop();
        this.bed.clock.advance(Duration.ofSeconds(1));
        loop.runOnce();
        this.bed.clock.advance(Duration.ofMillis(500));
        this.bed.runHandlers();

        Delivery delivery = seen.get(0);
        assertThat(delivery.queue()).isEqualTo("orders");
        assertThat(delivery.id()).isEqualTo("m");
        assertThat(delivery.attempt()).isEqualTo(2);
        assertThat(delivery.lapses()).isEqualTo(2);
        assertThat(delivery.dueAt()).isEqualTo(ManualNanoClock.START);
        assertThat(late).containsExactly(Duration.ofMillis(1500));
    }

    @Test
    void extendsALeaseForTheHandler() {
        List<Boolean> answers = new ArrayList<>();
        this.bed.handler = (message, delivery) -> (continuations) -> {
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
    void throwsToTheHandlerIfTheStoreDoesNotAnswerAnExtension() {
        this.bed.store.fail("extend");
        List<Throwable> thrown = new ArrayList<>();
        this.bed.handler = (message, delivery) -> (continuations) -> {
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
    void deadLettersThoughTheHandlerGivesNoReason() {
        this.bed.handler = (message, delivery) -> (continuations) -> {
            delivery.deadLetter(new IllegalStateException().getMessage());
            return null;
        };
        handle();

        assertThat(this.bed.store.dead).containsOnlyKeys("m~1");
        assertThat(this.bed.store.dead.get("m~1").cause()).isEqualTo(DefaultDelivery.NO_REASON);
        assertThat(this.bed.events).hasSize(1);
    }

    @Test
    void failsAHandlerThatPassesNoDelay() {
        this.bed.handler = (message, delivery) -> (continuations) -> {
            delivery.retryAfter(null);
            return null;
        };
        handle();

        assertThat(this.bed.store.calls).contains("retry m in PT1S");
        assertThat(this.log.lines(Level.WARN)).first().asString().contains("NullPointerException: delay");
    }

}
