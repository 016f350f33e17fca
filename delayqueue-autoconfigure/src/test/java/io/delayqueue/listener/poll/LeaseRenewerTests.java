package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import ch.qos.logback.classic.Level;
import io.delayqueue.ErrorDecision;
import io.delayqueue.Delivery;
import io.delayqueue.fixtures.LogCapture;
import io.delayqueue.fixtures.ManualNanoClock;
import io.delayqueue.fixtures.store.ListenerFakeStore;
import io.delayqueue.store.ClaimRequest;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests P4 (leases of handled messages are renewed) and P5 (a lost lease is counted,
 * logged and visible to the handler).
 */
class LeaseRenewerTests {

    private static final Duration ROUND = TestBed.LEASE.dividedBy(6);

    private final TestBed bed = new TestBed();

    private final LeaseRenewer renewer = new LeaseRenewer(this.bed.queue(), this.bed.context);

    private InFlightMessage hold(String id) {
        ListenerFakeStore.Entry entry = this.bed.store.add(id, Duration.ZERO);
        long now = this.bed.clock.getAsLong();
        List<InFlightMessage> leases = new ArrayList<>();
        this.bed.store.claim(TestBed.QUEUE, new ClaimRequest(1, TestBed.LEASE, this.bed.expiryPolicy))
            .thenAccept((claim) -> claim.messages()
                .forEach((message) -> leases.add(new InFlightMessage(message,
                        new InFlightMessage.Times(now, now, claim.now()), TestBed.LEASE))));
        assertThat(entry.token).isNotNull();
        this.renewer.add(leases.get(0));
        return leases.get(0);
    }

    @Test
    void renewsEachLeaseWhenAThirdOfItIsOver() {
        hold("m");
        this.renewer.start();

        this.bed.timer.advance(ROUND.multipliedBy(2).minusMillis(50));
        assertThat(this.bed.store.count("extend")).isZero();
        this.bed.timer.advance(Duration.ofMillis(100));
        assertThat(this.bed.store.count("extend")).isOne();
        this.bed.timer.advance(ROUND.multipliedBy(3));
        assertThat(this.bed.store.count("extend")).isEqualTo(2);
    }

    @Test
    void renewsALeaseForAsLongAsItIsHeld() {
        InFlightMessage lease = hold("m");
        this.renewer.start();

        this.bed.timer.advance(TestBed.LEASE.multipliedBy(10));
        assertThat(lease.isLive(this.bed.clock.getAsLong())).isTrue();
        assertThat(this.bed.store.messages.get("m").leasedUntil).isAfter(this.bed.clock.instant());

        this.renewer.remove(lease);
        long renewals = this.bed.store.count("extend");
        this.bed.timer.advance(TestBed.LEASE);
        assertThat(this.bed.store.count("extend")).isEqualTo(renewals);
        assertThat(lease.isLive(this.bed.clock.getAsLong())).isFalse();
    }

    /** A handler that extends its lease shortly at each step would lose it. */
    @Test
    void renewsALeaseThatItsHandlerExtendsForLessThanTheUsualTime() {
        InFlightMessage lease = hold("m");
        Delivery delivery = new DefaultDelivery(lease, this.bed.queue(), this.bed.context);
        this.renewer.start();

        for (int step = 0; step < 20; step++) {
            assertThat(delivery.extend(TestBed.LEASE.dividedBy(10))).isTrue();
            this.bed.timer.advance(TestBed.LEASE.dividedBy(4));
            assertThat(delivery.isLeased()).as("step %d", step).isTrue();
        }
    }

    @Test
    void countsARenewedLeaseFromBeforeTheCall() {
        InFlightMessage lease = hold("m");
        this.bed.clock.advance(ROUND.multipliedBy(2));
        long sentAt = this.bed.clock.getAsLong();
        this.bed.store.during("extend", () -> this.bed.clock.advance(Duration.ofSeconds(1)));
        this.renewer.renew();

        assertThat(lease.nanosLeft(sentAt)).isEqualTo(TestBed.LEASE.toNanos());
    }

    @Test
    void renewsAHundredAtATime() {
        for (int i = 0; i < 150; i++) {
            hold("m" + i);
        }
        this.bed.clock.advance(ROUND.multipliedBy(2));
        this.bed.store.calls.clear();
        this.renewer.renew();

        assertThat(this.bed.store.calls).extracting((call) -> call.split(",").length).containsExactly(100, 50);
    }

    @Test
    void doesNotRenewTwiceBeforeAnAnswer() {
        InFlightMessage lease = hold("m");
        CompletableFuture<Void> answer = this.bed.store.stall("extend");
        this.bed.clock.advance(ROUND.multipliedBy(2));
        this.renewer.renew();
        this.renewer.renew();
        assertThat(this.bed.store.count("extend")).isOne();

        answer.complete(null);
        assertThat(lease.nanosLeft(this.bed.clock.getAsLong())).isEqualTo(TestBed.LEASE.toNanos());
        this.bed.clock.advance(ROUND.multipliedBy(2));
        this.renewer.renew();
        assertThat(this.bed.store.count("extend")).isEqualTo(2);
    }

    @Test
    void logsALostLeaseOnce() {
        InFlightMessage lease = hold("m");
        Delivery delivery = new DefaultDelivery(lease, this.bed.queue(), this.bed.context);
        this.bed.store.messages.get("m").token = "another";
        try (LogCapture log = new LogCapture()) {
            this.bed.clock.advance(ROUND.multipliedBy(2));
            assertThat(delivery.isLeased()).isTrue();
            this.renewer.renew();
            this.renewer.renew();

            assertThat(delivery.isLeased()).isFalse();
            assertThat(this.bed.counters.snapshot().leasesLost()).isOne();
            assertThat(log.lines(Level.WARN)).hasSize(1)
                .first()
                .asString()
                .startsWith("Message 'm' of queue 'orders' outlived its lease on attempt 1");
            assertThat(this.bed.store.count("extend")).isOne();
        }
    }

    /** Simulates a process that was suspended: one message, one line and one count. */
    @Test
    void logsALostLeaseOnceThoughItsSettlementIsRejectedToo() {
        InFlightMessage handled = hold("a");
        InFlightMessage failed = hold("b");
        this.bed.store.messages.values().forEach((entry) -> entry.token = "another");
        try (LogCapture log = new LogCapture()) {
            this.bed.clock.advance(ROUND.multipliedBy(2));
            this.renewer.renew();
            assertThat(this.bed.counters.snapshot().leasesLost()).isEqualTo(2);

            AcknowledgementBatcher acknowledgements = new AcknowledgementBatcher(this.bed.queue(), this.bed.context,
                    this.renewer);
            acknowledgements.add(handled);
            acknowledgements.accept(acknowledgements.send());
            new MessageSettler(this.bed.queue(), this.bed.context).failed(failed, ErrorDecision.retry(),
                    new IllegalStateException("boom"));

            assertThat(this.bed.counters.snapshot().leasesLost()).isEqualTo(2);
            assertThat(log.lines(Level.WARN)).hasSize(2);
        }
    }

    @Test
    void ignoresARenewalThatCrossesASettlement() {
        InFlightMessage lease = hold("m");
        this.bed.clock.advance(ROUND.multipliedBy(2));
        this.bed.store.during("extend", () -> {
            lease.settling(true);
            this.bed.store.messages.remove("m");
        });
        this.renewer.renew();

        assertThat(lease.isLive(this.bed.clock.getAsLong())).isTrue();
        assertThat(this.bed.counters.snapshot().leasesLost()).isZero();
    }

    @Test
    void retriesSoonAfterTheStoreFailed() {
        InFlightMessage lease = hold("m");
        this.renewer.start();
        this.bed.store.fail("extend");
        this.bed.timer.advance(ROUND.multipliedBy(3).plusMillis(50));
        assertThat(this.bed.store.count("extend")).isEqualTo(2);
        this.bed.store.recover();
        this.bed.timer.advance(ROUND);

        assertThat(lease.isLive(this.bed.clock.getAsLong())).isTrue();
        assertThat(this.bed.store.messages.get("m").leasedUntil)
            .isAfter(ManualNanoClock.START.plus(TestBed.LEASE).plusSeconds(10));
    }

    @Test
    void anOutageIsOverWhenThereIsNothingLeftToRenew() {
        InFlightMessage lease = hold("m");
        this.renewer.start();
        this.bed.store.fail("extend");
        try (LogCapture log = new LogCapture()) {
            this.bed.timer.advance(ROUND.multipliedBy(3));
            assertThat(log.lines(Level.WARN)).anyMatch((line) -> line.startsWith("Cannot renew leases of"));

            this.renewer.remove(lease);
            this.bed.timer.advance(ROUND);
            assertThat(log.lines(Level.INFO)).anyMatch((line) -> line.startsWith("The store answers again"));
        }
    }

    @Test
    void leavesALeaseToRunOutWhoseHandlerTimedOut() {
        InFlightMessage lease = hold("m");
        this.renewer.start();
        this.bed.timeout = ROUND;
        HandlerCall.start(this.bed.queue(), List.of(lease), this.bed.context).returned();
        this.bed.timer.advance(TestBed.LEASE.plusSeconds(1));

        assertThat(this.bed.store.count("extend")).isZero();
        assertThat(lease.isLive(this.bed.clock.getAsLong())).isFalse();
    }

    @Test
    void renewsMessagesThatAreFinishedButNotAcknowledged() {
        InFlightMessage lease = hold("m");
        lease.task().tryStart();
        AcknowledgementBatcher acknowledgements = new AcknowledgementBatcher(this.bed.queue(), this.bed.context,
                this.renewer);
        acknowledgements.add(lease);
        this.bed.clock.advance(ROUND.multipliedBy(2));
        this.renewer.renew();
        assertThat(this.bed.store.count("extend")).isOne();

        acknowledgements.accept(acknowledgements.send());
        this.bed.clock.advance(ROUND.multipliedBy(2));
        this.renewer.renew();
        assertThat(this.bed.store.count("extend")).isOne();
    }

    @Test
    void logsOnceALeaseThatTheHandlerCannotExtend() {
        InFlightMessage lease = hold("m");
        Delivery delivery = new DefaultDelivery(lease, this.bed.queue(), this.bed.context);
        this.bed.store.messages.get("m").token = "another";
        try (LogCapture log = new LogCapture()) {
            assertThat(delivery.extend(TestBed.LEASE)).isFalse();
            assertThat(delivery.extend(TestBed.LEASE)).isFalse();
            this.bed.clock.advance(ROUND.multipliedBy(2));
            this.renewer.renew();

            assertThat(this.bed.counters.snapshot().leasesLost()).isOne();
            assertThat(log.lines(Level.WARN)).hasSize(1);
        }
    }

}
