package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import ch.qos.logback.classic.Level;
import io.delayqueue.fixtures.LogCapture;
import io.delayqueue.store.WakeUpSignal;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests P1 (a handled message is acknowledged while its lease lasts) and P3 (no
 * acknowledgement delays a claim).
 */
class PollLoopAcknowledgementTests {

    private final TestBed bed = new TestBed();

    @Test
    void sendsTheClaimWithoutWaitingForTheAcknowledgement() {
        PollLoop loop = this.bed.loop();
        this.bed.store.add("m", Duration.ZERO);
        loop.runOnce();
        this.bed.runHandlers();
        loop.runOnce();
        this.bed.clock.advance(TestBed.LINGER);
        loop.onWakeUp(WakeUpSignal.POLL_NOW);
        CompletableFuture<Void> acknowledged = this.bed.store.stall("acknowledge");

        assertThat(loop.runOnce()).as("nothing to do before the answer").isNull();
        assertThat(this.bed.store.calls).endsWith("acknowledge [m]", "claim 2");
        acknowledged.complete(null);
        assertThat(loop.runOnce()).isNotNull();
        assertThat(this.bed.store.calls).endsWith("acknowledge [m]", "claim 2");
    }

    @Test
    void acknowledgesFinishedMessagesWithoutPermitsToClaim() {
        this.bed.concurrency = 2;
        PollLoop loop = this.bed.loop();
        this.bed.store.add("a", Duration.ZERO);
        this.bed.store.add("b", Duration.ZERO);
        loop.runOnce();
        loop.pause(true);

        this.bed.handlers.poll().run();
        loop.runOnce();

        assertThat(this.bed.store.calls).containsExactly("claim 2", "acknowledge [a, b]");
    }

    @Test
    void wakesAtOnceForAHandlerThatFinishesWhileItClaims() {
        this.bed.concurrency = 2;
        PollLoop loop = this.bed.loop();
        this.bed.store.add("m", Duration.ZERO);
        loop.runOnce();
        this.bed.store.during("claim", this.bed::runHandlers);

        TestBed.poll(loop);
        assertThat(this.bed.store.count("acknowledge")).isZero();

        // Would wait for a safety poll if the request had been missed.
        loop.start(this.bed.store);
        this.bed.timer.advance(TestBed.LINGER);
        assertThat(this.bed.store.count("acknowledge")).isOne();
    }

    @Test
    void claimsAtOnceThoughAcknowledgementsWaitAlready() {
        this.bed.concurrency = 2;
        Map<String, CompletableFuture<Void>> running = new LinkedHashMap<>();
        this.bed.handler = (message, delivery) -> (continuations) -> running.computeIfAbsent(message.lease().id(),
                (id) -> new CompletableFuture<>());
        for (String id : List.of("a", "b", "c", "d")) {
            this.bed.store.add(id, Duration.ZERO);
        }
        this.bed.loop().start(this.bed.store);
        this.bed.runHandlers();

        running.get("a").complete(null);
        this.bed.runHandlers();
        running.get("b").complete(null);
        this.bed.runHandlers();

        assertThat(running).as("before the linger is over").containsOnlyKeys("a", "b", "c", "d");
        assertThat(this.bed.store.count("acknowledge")).isZero();
    }

    @Test
    void sendsAcknowledgementsAgainWhileTheirLeaseLasts() {
        PollLoop loop = this.bed.loop();
        this.bed.store.add("m", Duration.ZERO);
        loop.runOnce();
        this.bed.runHandlers();
        this.bed.store.fail("acknowledge");
        loop.runOnce();
        this.bed.clock.advance(TestBed.LINGER);

        assertThat(loop.runOnce()).isBetween(Duration.ofMillis(80), Duration.ofMillis(120));
        this.bed.store.recover();
        this.bed.settle(loop);

        assertThat(this.bed.store.count("acknowledge")).isEqualTo(2);
        assertThat(this.bed.store.messages).isEmpty();
    }

    @Test
    void dropsAcknowledgementsThatFailAfterTheirLease() {
        try (LogCapture log = new LogCapture()) {
            PollLoop loop = this.bed.loop();
            this.bed.store.add("m", Duration.ZERO);
            loop.runOnce();
            this.bed.runHandlers();
            this.bed.store.fail("acknowledge");
            this.bed.settle(loop);
            this.bed.clock.advance(TestBed.LEASE);
            loop.pause(true);
            loop.runOnce();
            loop.runOnce();

            assertThat(this.bed.store.count("acknowledge")).isEqualTo(2);
            assertThat(log.lines(Level.WARN)).hasSize(1);
            assertThat(log.lines(Level.DEBUG)).anyMatch((line) -> line.contains("it may be handled again"));
        }
    }

    @Test
    void logsAnAcknowledgementThatCameTooLate() {
        try (LogCapture log = new LogCapture()) {
            PollLoop loop = this.bed.loop();
            this.bed.store.add("m", Duration.ZERO);
            loop.runOnce();
            this.bed.runHandlers();
            this.bed.clock.advance(TestBed.LEASE);
            this.bed.settle(loop);

            assertThat(this.bed.counters.snapshot().leasesLost()).isOne();
            assertThat(log.lines(Level.WARN)).containsExactly(
                    "Message 'm' of queue 'orders' outlived its lease on attempt 1, so that it may be handled "
                            + "again; here it was handled (or a reconnect has sent its " + "acknowledgement twice)");
        }
    }

}
